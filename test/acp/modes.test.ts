import { describe, expect, it, onTestFinished } from "vitest";
import { isObject } from "../../src/domain/json.ts";
import type { SessionMode } from "../../src/domain/session-mode.ts";
import { settingsAnswer } from "../../src/wire/acp/session-modes.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { acpClient, USER, type AcpClient, type Message } from "../support/acp-client.ts";
import { says, scriptedProvider } from "../support/scripted-provider.ts";
import { agentOf, sessionsOn } from "../support/session-world.ts";
import { writing } from "../support/writing-agent.ts";

const SETUP = { cwd: "/work", mcpServers: [] };

function world() {
  const provider = scriptedProvider([says("Hi."), says("Hi."), says("Hi.")]);
  const sessions = sessionsOn(memoryStore(), agentOf({ provider }));
  onTestFinished(() => sessions.close());
  return sessions;
}

/** What a client was told of modes: as one and as the other. */
function told(client: AcpClient): unknown[] {
  return client.updates().flatMap((update): unknown[] => {
    if (update["sessionUpdate"] === "current_mode_update") return [update["currentModeId"]];
    if (update["sessionUpdate"] !== "config_option_update") return [];
    const [option] = Array.isArray(update["configOptions"]) ? update["configOptions"] : [];
    return [isObject(option) ? [option["currentValue"]] : undefined];
  });
}

const settled = (client: AcpClient, mode: SessionMode): Promise<Message> =>
  client.find(({ params }) => JSON.stringify(params ?? {}).includes(`"currentValue":"${mode}"`));

const settings = (mode: SessionMode): object => settingsAnswer(mode);

describe("the mode of a session", () => {
  it("is in the answers of new, load, resume and fork, twice and in step [ACP-41]", async () => {
    const sessions = world();
    const client = await acpClient(sessions);
    await client.ask("initialize");
    const created = await client.result("session/new", SETUP);
    expect(created).toMatchObject(settings("default"));
    const { sessionId } = created;
    expect(await client.result("session/set_mode", { sessionId, modeId: "ask" })).toEqual({});
    const other = await acpClient(sessions);
    await other.ask("initialize");
    const known = { ...SETUP, sessionId };
    expect(await other.result("session/load", known)).toMatchObject(settings("ask"));
    expect(await other.result("session/resume", known)).toMatchObject(settings("ask"));
    const forked = await other.result("session/fork", known);
    expect(forked).toMatchObject(settings("ask"));
    expect(forked["sessionId"]).not.toBe(sessionId);
  });

  it("is told to every client when it changes, and not again to who comes after [ACP-41]", async () => {
    const sessions = world();
    const [one, other] = [await acpClient(sessions), await acpClient(sessions)];
    const sessionId = await one.begin();
    await other.ask("initialize");
    await other.result("session/load", { ...SETUP, sessionId });
    const changed = await one.result("session/set_config_option", {
      sessionId,
      configId: "mode",
      value: "read-only",
    });
    expect(changed).toEqual({ configOptions: settingsAnswer("read-only").configOptions });
    await Promise.all([settled(one, "read-only"), settled(other, "read-only")]);
    expect(told(one)).toEqual(["read-only", ["read-only"]]);
    expect(told(other)).toEqual(["read-only", ["read-only"]]);

    await sessions.command(sessionId, { type: "configure", mode: "ask" }, { principal: USER });
    await settled(other, "ask");
    expect(told(other).slice(2)).toEqual(["ask", ["ask"]]);

    const late = await acpClient(sessions);
    await late.ask("initialize");
    expect(await late.result("session/load", { ...SETUP, sessionId })).toMatchObject(
      settings("ask"),
    );
    await late.result("session/prompt", { sessionId, prompt: [{ type: "text", text: "Hello" }] });
    expect(told(late)).toEqual([]);
  });

  it("that is not there is refused by the names of those that are [ACP-41]", async () => {
    const client = await acpClient(world());
    const sessionId = await client.begin();
    const { error } = await client.ask("session/set_mode", { sessionId, modeId: "yolo" });
    expect(error).toMatchObject({ code: -32602 });
    expect(JSON.stringify(error)).toContain("default, ask, read-only");
    const gone = await client.ask("session/set_mode", { sessionId: "none", modeId: "ask" });
    expect(gone["error"]).toMatchObject({ code: -32002 });
  });

  it("holds in the copy of a session, from its first call on", async () => {
    const { agent, ran } = writing("allow");
    const sessions = sessionsOn(memoryStore(), agent());
    onTestFinished(() => sessions.close());
    const client = await acpClient(sessions);
    const sessionId = await client.begin();
    await client.result("session/set_mode", { sessionId, modeId: "read-only" });
    const forked = await client.result("session/fork", { ...SETUP, sessionId });
    const prompt = [{ type: "text", text: "Write." }];
    await client.result("session/prompt", { sessionId: forked["sessionId"], prompt });
    expect(ran).toEqual([]);
  });
});
