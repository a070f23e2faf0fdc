import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createLineClient, readText, type LineClient } from "../../support/acp/acp-client.ts";
import { createAcpProject } from "../../support/acp/acp-project.ts";
import { listUserMessages, readAgentText } from "../../support/acp/steering-world.ts";
import { createCommandLine, type CommandLine } from "../../support/command-line.ts";
import { eventually } from "../../support/eventually.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

/** A bridge host with the process of an agent. The agent's model repeats the last message. */
async function startHost(agent: object = {}) {
  const project = await createAcpProject(command, agent);
  const child = project.spawn();
  child.stderr.resume();
  child.stdin.on("error", () => {});
  onTestFinished(() => void child.stdin.end());
  const client = createLineClient(child.stdout, child.stdin);
  await client.requestResult("initialize", {
    protocolVersion: 1,
    clientCapabilities: { _meta: { harn: {} } },
  });
  const { sessionId } = await client.requestResult("session/new", {
    cwd: project.project,
    mcpServers: [],
  });
  return { project, client, sessionId: readText(sessionId) };
}

function prompt(sessionId: string, text: string): object {
  return { sessionId, prompt: [{ type: "text", text }] };
}

async function approve(client: LineClient): Promise<void> {
  const { id } = await client.waitForMessage(
    ({ method }) => method === "session/request_permission",
  );
  const outcome = { outcome: "selected", optionId: "allow" };
  client.send({ jsonrpc: "2.0", id, result: { outcome } });
}

describe("The process of an agent", () => {
  it("A message sent during an approval reaches the model with the tool's result and changes its answer [B-165] [B-167] [B-168] [B-169] [B-174] [ACP-113] [ACP-114]", async () => {
    const { project, client, sessionId } = await startHost();
    const turn = client.requestResult("session/prompt", prompt(sessionId, "write it down"));
    await client.waitForMessage(({ method }) => method === "session/request_permission");
    const params = { sessionId, mode: "steer", content: "Use feet" };
    const injected = await client.requestResult("session/inject", params);
    const messageId = readText(injected["messageId"]);
    expect(injected).toEqual({ status: "accepted", messageId, deliveredAs: "steer" });
    const replaced = { sessionId, messageId, content: "Use metric units" };
    expect(await client.requestResult("session/replace_inject", replaced)).toEqual({
      messageId,
      status: "replaced",
    });
    await approve(client);
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    expect(readAgentText(client)).toContain("You said: Use metric units");
    expect(listUserMessages(client)).toEqual([`user_message ${messageId} Use metric units`]);
    expect(JSON.stringify(project.model.modelRequests)).not.toContain("Use feet");
    expect(project.readWritten("note.txt")).toBe("write it down");
  });

  it("A daemon of the configuration announces that it is idle, and wakes for a message and for agent/resume [B-158] [B-161] [B-162] [B-163] [B-171] [ACP-132]", async () => {
    const { client, sessionId } = await startHost({ daemon: true });
    await client.requestResult("session/prompt", prompt(sessionId, "hello"));
    const third = await client.waitForMessage(
      ({ method, params }) =>
        method === "agent/idle" && JSON.stringify(params).includes('"iteration":3'),
    );
    expect(third["params"]).toEqual({ iteration: 3, backoff_ms: 1000 });
    const params = { sessionId, mode: "queue", content: "news" };
    expect(await client.requestResult("session/inject", params)).toMatchObject({
      deliveredAs: "turn",
    });
    await eventually(() => expect(readAgentText(client)).toContain("You said: news"));
    client.send({ jsonrpc: "2.0", method: "agent/resume", params: {} });
    await eventually(() => expect(readAgentText(client)).toContain("You said: Your host resumed"));
    expect(listUserMessages(client)).toHaveLength(1);
  });
});
