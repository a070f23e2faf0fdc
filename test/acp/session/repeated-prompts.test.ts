import { describe, expect, it } from "vitest";
import { isObject, type JsonValue } from "../../../src/data/json.ts";
import { readText } from "../../support/acp/acp-client.ts";
import { startAcpServer, type SocketClient } from "../../support/acp/acp-server.ts";
import { createClientToolSessions } from "../../support/session/client-tool-sessions.ts";
import { eventually } from "../../support/eventually.ts";
import { refuses, says, type ProviderScript } from "../../support/session/scripted-provider.ts";

const SETUP = { cwd: "/work", mcpServers: [] };
const HOST = { clientCapabilities: { _meta: { harn: {} } } };

function prompt(sessionId: JsonValue | undefined, promptId: string, text = "Go"): object {
  return { sessionId, prompt: [{ type: "text", text }], _meta: { harn: { promptId } } };
}

/** A response that waits until `go` is called. */
function gated(answer: ProviderScript): {
  readonly answer: ProviderScript;
  readonly go: () => void;
} {
  let go: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  return {
    go: () => go(),
    async *answer(signal, call) {
      await gate;
      yield* answer(signal, call);
    },
  };
}

async function world(...answers: readonly ProviderScript[]) {
  const { sessions, readLog } = createClientToolSessions(answers);
  const server = await startAcpServer(sessions);
  const connect = async (): Promise<SocketClient> => {
    const client = await server.connect();
    await client.request("initialize", HOST);
    return client;
  };
  const turns = async (sessionId: JsonValue | undefined): Promise<number> =>
    (await readLog(readText(sessionId))).filter(({ event }) => event.type === "turn.started")
      .length;
  return { sessions, connect, turns };
}

describe("Prompt with a client id", () => {
  it("Repeatable prompts are offered at initialize", async () => {
    const { connect } = await world(says("Hi"));
    const client = await connect();
    const { agentCapabilities } = await client.requestResult("initialize", HOST);
    expect(agentCapabilities).toMatchObject({ _meta: { harn: { repeatablePrompts: true } } });
  });

  it("A repeated prompt on another connection gets the response of the running turn after all its updates [ACP-67]", async () => {
    const { answer, go } = gated(says("At last"));
    const { connect, turns } = await world(answer);
    const lost = await connect();
    const { sessionId } = await lost.requestResult("session/new", SETUP);
    lost.send({
      jsonrpc: "2.0",
      id: 70,
      method: "session/prompt",
      params: prompt(sessionId, "p1"),
    });
    await eventually(async () => expect(await turns(sessionId)).toBe(1));
    await lost.disconnect();
    const client = await connect();
    await client.requestResult("session/resume", { sessionId, ...SETUP });
    const promptResult = client.request("session/prompt", prompt(sessionId, "p1"));
    await client.requestResult("session/list", {});
    go();
    expect((await promptResult)["result"]).toEqual({ stopReason: "end_turn" });
    const contentUpdates = client.listUpdates().filter(({ content }) => isObject(content));
    expect(JSON.stringify(contentUpdates)).toContain("At last");
    expect(await turns(sessionId)).toBe(1);
  });

  it.each([
    ["completed", says("Hi"), { result: { stopReason: "end_turn" } }],
    ["failed", refuses("throttled"), { error: { data: { code: "throttled" } } }],
  ])(
    "A repeated prompt gets the same response after its turn has %s",
    async (_, answer, expected) => {
      const { connect, turns, sessions } = await world(answer);
      const lost = await connect();
      const { sessionId } = await lost.requestResult("session/new", SETUP);
      lost.send({
        jsonrpc: "2.0",
        id: 70,
        method: "session/prompt",
        params: prompt(sessionId, "p1"),
      });
      await eventually(async () => expect(await turns(sessionId)).toBe(1));
      await lost.disconnect();
      await eventually(async () =>
        expect((await sessions.find(readText(sessionId)))?.state).toBe("idle"),
      );
      const client = await connect();
      await client.requestResult("session/load", { sessionId, ...SETUP });
      for (let times = 0; times < 2; times += 1) {
        const promptResult = await client.request("session/prompt", prompt(sessionId, "p1"));
        expect(promptResult).toMatchObject(expected);
      }
      expect(await turns(sessionId)).toBe(1);
    },
  );

  it("A prompt sent twice at the same time gets two equal responses", async () => {
    const { answer, go } = gated(says("Hi"));
    const { connect, turns } = await world(answer);
    const client = await connect();
    const { sessionId } = await client.requestResult("session/new", SETUP);
    const both = [1, 2].map(() => client.request("session/prompt", prompt(sessionId, "p1")));
    await client.requestResult("session/list", {});
    go();
    const answers = await Promise.all(both);
    expect(answers.map(({ result }) => result)).toEqual(
      [1, 2].map(() => ({ stopReason: "end_turn" })),
    );
    expect(await turns(sessionId)).toBe(1);
  });

  it("The same id with another text is refused, and another id starts another turn", async () => {
    const { connect, turns } = await world(says("Hi"), says("Again"));
    const client = await connect();
    const { sessionId } = await client.requestResult("session/new", SETUP);
    await client.requestResult("session/prompt", prompt(sessionId, "p1"));
    const other = await client.request("session/prompt", prompt(sessionId, "p1", "Other words"));
    expect(other["error"]).toMatchObject({ data: { code: "conflict" } });
    await client.requestResult("session/prompt", prompt(sessionId, "p2"));
    expect(await turns(sessionId)).toBe(2);
  });

  it.each([[""], [7], ["x".repeat(201)]])("The prompt id %j is rejected", async (promptId) => {
    const { connect } = await world(says("Hi"));
    const client = await connect();
    const { sessionId } = await client.requestResult("session/new", SETUP);
    const promptRequest = { ...prompt(sessionId, ""), _meta: { harn: { promptId } } };
    const { error } = await client.request("session/prompt", promptRequest);
    expect(error).toMatchObject({ code: -32602 });
  });
});
