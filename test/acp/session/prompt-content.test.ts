import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import { createLineClient, type LineClient } from "../../support/acp/acp-client.ts";
import { createAcpProject, type AcpProject } from "../../support/acp/acp-project.ts";
import { createCommandLine, type CommandLine } from "../../support/command-line.ts";
import {
  says,
  wants,
  type ModelServerRequest,
  type ScriptedResponse,
} from "../../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

const PICTURE = Buffer.from("a picture").toString("base64");

/** A scripted model: reads the first linked file, then confirms. */
function reader({ messages }: ModelServerRequest): ScriptedResponse {
  const [, path] = /\(the file (.+?); its content/.exec(JSON.stringify(messages.at(-1))) ?? [];
  return path === undefined
    ? says("I have seen it.")
    : wants({ id: "r", name: "read_file", input: { path } });
}

function started(world: AcpProject): LineClient {
  const { stdout, stdin } = world.spawn();
  return createLineClient(stdout, stdin);
}

describe("Prompt content with a real agent", () => {
  it("The model receives images and embedded files [ACP-65]", async () => {
    const world = await createAcpProject(command, {}, reader);
    const client = started(world);
    const sessionId = await client.newSession(world.project);
    const prompt = [
      { type: "text", text: "What are these?" },
      { type: "image", data: PICTURE, mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///w/b.ts", text: "let b;" } },
      { type: "resource", resource: { uri: "file:///w/c.bin", blob: PICTURE } },
    ];
    const { stopReason } = await client.requestResult("session/prompt", { sessionId, prompt });
    expect(stopReason).toBe("end_turn");
    const modelInput = JSON.stringify(world.model.modelRequests[0]?.messages.at(-1));
    expect(modelInput).toContain(`data:image/png;base64,${PICTURE}`);
    expect(modelInput).toContain("let b;");
    expect(modelInput).toContain("9 bytes");
  });

  it("A linked file is named for the agent's tools, and unreadable links do not stop the prompt [ACP-66]", async () => {
    const world = await createAcpProject(command, { approvals: { allow: ["read_file"] } }, reader);
    const client = started(world);
    const sessionId = await client.newSession(world.project);
    const file = join(world.project, "some where", "ä.txt");
    mkdirSync(join(file, ".."));
    writeFileSync(file, "the linked words");
    const prompt = [
      { type: "resource_link", uri: "zed:///agent/terminal", name: "Terminal" },
      { type: "resource_link", uri: "https://example.com/x", name: "x" },
      { type: "resource_link", uri: pathToFileURL(file).href, name: "ä.txt" },
    ];
    const { stopReason } = await client.requestResult("session/prompt", { sessionId, prompt });
    expect(stopReason).toBe("end_turn");
    expect(world.hasModelReceived("the linked words")).toBe(true);
    expect(JSON.stringify(world.model.modelRequests[0]?.messages.at(-1))).toContain(
      "cannot be read from here",
    );
  });

  it("An agent without image support rejects an image with a fix [ACP-65]", async () => {
    const world = await createAcpProject(command, { images: "reject" }, reader);
    const client = started(world);
    const sessionId = await client.newSession(world.project);
    const prompt = [{ type: "image", data: PICTURE, mimeType: "image/png" }];
    const { error } = await client.request("session/prompt", { sessionId, prompt });
    expect(isObject(error) && error["code"]).toBe(-32602);
    expect(isObject(error) && error["message"]).toContain('set images to "describe"');
    expect(world.model.modelRequests).toEqual([]);
  });
});
