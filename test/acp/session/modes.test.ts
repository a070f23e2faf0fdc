import { describe, expect, it, onTestFinished } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import type { SessionMode } from "../../../src/domain/session-mode.ts";
import { encodeSettings } from "../../../src/wire/acp/decode/session-mode-messages.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import {
  connectAcpClient,
  USER,
  type AcpClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import { says, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, openSessions } from "../../support/session/session-world.ts";
import { createWritingAgent } from "../../support/session/writing-agent.ts";

const SETUP = { cwd: "/work", mcpServers: [] };

function world() {
  const provider = createScriptedProvider([says("Hi."), says("Hi."), says("Hi.")]);
  const sessions = openSessions(createMemoryStore(), createAgent({ provider }));
  onTestFinished(() => sessions.close());
  return sessions;
}

/** The received mode updates of a client, as modes and as config options. */
function listModes(client: AcpClient): unknown[] {
  return client.listUpdates().flatMap((update): unknown[] => {
    if (update["sessionUpdate"] === "current_mode_update") return [update["currentModeId"]];
    if (update["sessionUpdate"] !== "config_option_update") return [];
    const [option] = Array.isArray(update["configOptions"]) ? update["configOptions"] : [];
    return [isObject(option) ? [option["currentValue"]] : undefined];
  });
}

const settled = (client: AcpClient, mode: SessionMode): Promise<Message> =>
  client.waitForMessage(({ params }) =>
    JSON.stringify(params ?? {}).includes(`"currentValue":"${mode}"`),
  );

const settings = (mode: SessionMode): object => encodeSettings(mode);

describe("Session mode", () => {
  it("The results of new, load, resume and fork have the mode in both forms [ACP-41]", async () => {
    const sessions = world();
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    const created = await client.requestResult("session/new", SETUP);
    expect(created).toMatchObject(settings("default"));
    const { sessionId } = created;
    expect(await client.requestResult("session/set_mode", { sessionId, modeId: "ask" })).toEqual(
      {},
    );
    const other = await connectAcpClient(sessions);
    await other.request("initialize");
    const known = { ...SETUP, sessionId };
    expect(await other.requestResult("session/load", known)).toMatchObject(settings("ask"));
    expect(await other.requestResult("session/resume", known)).toMatchObject(settings("ask"));
    const forked = await other.requestResult("session/fork", known);
    expect(forked).toMatchObject(settings("ask"));
    expect(forked["sessionId"]).not.toBe(sessionId);
  });

  it("A mode change is sent to every attached client and not to later clients [ACP-41]", async () => {
    const sessions = world();
    const [one, other] = [await connectAcpClient(sessions), await connectAcpClient(sessions)];
    const sessionId = await one.newSession();
    await other.request("initialize");
    await other.requestResult("session/load", { ...SETUP, sessionId });
    const changed = await one.requestResult("session/set_config_option", {
      sessionId,
      configId: "mode",
      value: "read-only",
    });
    expect(changed).toEqual({ configOptions: encodeSettings("read-only").configOptions });
    await Promise.all([settled(one, "read-only"), settled(other, "read-only")]);
    expect(listModes(one)).toEqual(["read-only", ["read-only"]]);
    expect(listModes(other)).toEqual(["read-only", ["read-only"]]);

    await sessions.command(sessionId, { type: "set-mode", mode: "ask" }, { principal: USER });
    await settled(other, "ask");
    expect(listModes(other).slice(2)).toEqual(["ask", ["ask"]]);

    const late = await connectAcpClient(sessions);
    await late.request("initialize");
    expect(await late.requestResult("session/load", { ...SETUP, sessionId })).toMatchObject(
      settings("ask"),
    );
    await late.requestResult("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Hello" }],
    });
    expect(listModes(late)).toEqual([]);
  });

  it("An unknown mode is rejected with the valid modes [ACP-41]", async () => {
    const client = await connectAcpClient(world());
    const sessionId = await client.newSession();
    const { error } = await client.request("session/set_mode", { sessionId, modeId: "yolo" });
    expect(error).toMatchObject({ code: -32602 });
    expect(error).toMatchObject({
      message: expect.stringContaining('expected "default", "ask" or "read-only"'),
    });
    const gone = await client.request("session/set_mode", { sessionId: "none", modeId: "ask" });
    expect(gone["error"]).toMatchObject({ code: -32002 });
  });

  it("A forked session has the mode of its source from its first tool call on", async () => {
    const { agent, ran } = createWritingAgent("allow");
    const sessions = openSessions(createMemoryStore(), agent());
    onTestFinished(() => sessions.close());
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    await client.requestResult("session/set_mode", { sessionId, modeId: "read-only" });
    const forked = await client.requestResult("session/fork", { ...SETUP, sessionId });
    const prompt = [{ type: "text", text: "Write." }];
    await client.requestResult("session/prompt", { sessionId: forked["sessionId"], prompt });
    expect(ran).toEqual([]);
  });
});
