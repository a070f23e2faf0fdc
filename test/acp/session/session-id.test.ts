import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Credentials } from "../../../src/aws/credentials.ts";
import { SpanlineError } from "../../../src/domain/errors.ts";
import { isObject } from "../../../src/data/json.ts";
import { emulate, TEST_CREDENTIALS, type EmulateOptions } from "../../../src/emulator/index.ts";
import { systemClock, type SteadyClock } from "../../../src/platform/clock.ts";
import { createHttpClient, type HttpRequest } from "../../../src/platform/http-client.ts";
import {
  harnessProvider,
  type HarnessOptions,
} from "../../../src/providers/agentcore/harness-provider.ts";
import { localProvider } from "../../../src/providers/local/local-provider.ts";
import type { Provider } from "../../../src/providers/provider.ts";
import type { RunningSessions } from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import {
  connectAcpClient,
  readText,
  type AcpClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import { createFakeClock, advanceUntil } from "../../support/fake-clock.ts";
import {
  cuts,
  hangs,
  says,
  startModelServer,
  type ScriptedResponse,
} from "../../support/server/model-server.ts";
import {
  hangs as hangsThere,
  says as saysThere,
  createScriptedProvider,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  readUntil,
  openSessions,
  type AgentParts,
} from "../../support/session/session-world.ts";

const SETUP = { cwd: "/work", mcpServers: [] };
const SCRIPT = `
repeat: true
turns:
  - when: first
    answer: [One moment., { pause: 60000 }, Late.]
  - answer: Here I am.
`;

/** An agent on the emulator, with all requests sent to the emulator. */
async function onEmulator(
  options: EmulateOptions = {},
  connection: Partial<HarnessOptions> = {},
  script = SCRIPT,
) {
  const folder = mkdtempSync(join(tmpdir(), "spanline-acp-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "agent.yaml"), script);
  const emulator = await emulate({ brain: `script:${join(folder, "agent.yaml")}`, ...options });
  onTestFinished(() => emulator.close());
  const sent: HttpRequest[] = [];
  const { send } = createHttpClient();
  const provider = harnessProvider({
    harnessArn: emulator.demoArn,
    endpoint: emulator.url,
    credentials: TEST_CREDENTIALS,
    send(request, signal) {
      sent.push(request);
      return send(request, signal);
    },
    ...connection,
  });
  return { emulator, provider, sent };
}

async function onModel(...answers: readonly ScriptedResponse[]) {
  const model = await startModelServer("chat", answers);
  const provider = localProvider({ model: model.createModel({ maxAttempts: 1 }) });
  return { model, provider };
}

function sessionsWith(
  provider: Provider,
  parts: Partial<AgentParts> = {},
  clock: SteadyClock = systemClock,
): RunningSessions {
  const sessions = openSessions(createMemoryStore(), createAgent({ provider, ...parts }), clock);
  onTestFinished(() => sessions.close());
  return sessions;
}

function prompt(sessionId: string, text: string, meta?: object): object {
  return {
    sessionId,
    prompt: [{ type: "text", text }],
    ...(meta !== undefined && { _meta: meta }),
  };
}

function readAgentText(client: AcpClient): string {
  return client
    .listUpdates()
    .flatMap(({ sessionUpdate, content }) =>
      sessionUpdate === "agent_message_chunk" && isObject(content)
        ? [readText(content["text"])]
        : [],
    )
    .join("");
}

function isPermission({ method }: Message): boolean {
  return method === "session/request_permission";
}

function choose(client: AcpClient, { id }: Message, optionId: string): void {
  client.send({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId } } });
}

function cancel(client: AcpClient, sessionId: string): void {
  client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
}

async function upstreamOf(sessions: RunningSessions, sessionId: string): Promise<string> {
  const log = await readUntil(sessions, sessionId, ({ event }) => event.type === "upstream.opened");
  const opened = log.at(-1)?.event;
  return opened?.type === "upstream.opened" ? opened.upstreamId : "";
}

describe("Session id", () => {
  it("A session id is unique, and the upstream session id is not derived from it and never sent to clients [ACP-39]", async () => {
    const { provider } = await onEmulator();
    const sessions = sessionsWith(provider);
    const client = await connectAcpClient(sessions);
    const ids = [await client.newSession()];
    for (let count = 0; count < 20; count += 1) {
      ids.push(readText((await client.requestResult("session/new", SETUP))["sessionId"]));
    }
    expect(new Set(ids).size).toBe(21);
    const [sessionId = ""] = ids;
    await client.requestResult("session/prompt", prompt(sessionId, "Hello"));
    const upstreamId = await upstreamOf(sessions, sessionId);
    expect(upstreamId.length).toBeGreaterThanOrEqual(33);
    expect(upstreamId).not.toContain(sessionId.slice("ses_".length));
    expect(JSON.stringify(client.messages)).not.toContain(upstreamId);
  });
});

describe("Interrupted response", () => {
  it.each([
    ["inside a frame", "truncate: {frame: 4, bytes: 7}"],
    ["by a reset", "resetAtByte: 600"],
    ["without its end", "omit: [messageStop]"],
  ])(
    "A response interrupted %s keeps its received text and fails the turn [ACP-71]",
    async (_, fault) => {
      const script = `turns:\n  - answer: Here I am.\n    faults: {${fault}}\n`;
      const { provider } = await onEmulator({}, {}, script);
      const client = await connectAcpClient(sessionsWith(provider, { onLost: "ask" }));
      const sessionId = await client.newSession();
      const answer = client.request("session/prompt", prompt(sessionId, "Hello"));
      await Promise.race([answer, client.waitForMessage(isPermission)]);
      expect(readAgentText(client)).toMatch(/^Here/);
      const permissionRequest = client.messages.find(isPermission);
      if (permissionRequest !== undefined) choose(client, permissionRequest, "stop");
      const { result, error } = await answer;
      expect(result).toBe(undefined);
      expect(isObject(error) && error["code"]).toBe(-32603);
    },
  );

  it("An interrupted model response keeps its received text, and the next prompt works [ACP-71]", async () => {
    const { provider } = await onModel(cuts({ text: "Half of" }), says("All of it."));
    const client = await connectAcpClient(sessionsWith(provider));
    const sessionId = await client.newSession();
    const answer = client.request("session/prompt", prompt(sessionId, "Hello"));
    choose(client, await client.waitForMessage(isPermission), "stop");
    expect(isObject((await answer)["error"])).toBe(true);
    expect(readAgentText(client)).toBe("Half of");
    expect(await client.requestResult("session/prompt", prompt(sessionId, "Again"))).toMatchObject({
      stopReason: "end_turn",
    });
  });
});

describe("Cancelled turn", () => {
  it("A cancelled turn is stopped at the provider even if no further prompt follows [ACP-111]", async () => {
    const { provider } = await onEmulator({ switches: { overlapping: "409" } });
    const sessions = sessionsWith(provider, { settle: "stop" });
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const answer = client.requestResult("session/prompt", prompt(sessionId, "The first"));
    await client.waitForMessage(() => readAgentText(client) !== "");
    const conversation = provider.open({ sessionId: await upstreamOf(sessions, sessionId) });
    const nextPrompt = { type: "prompt", texts: ["Are you still at it?"] } as const;
    const { signal } = new AbortController();
    await expect(conversation.invoke(nextPrompt, { signal })).rejects.toMatchObject({
      code: "conflict",
    });
    cancel(client, sessionId);
    expect(await answer).toEqual({ stopReason: "cancelled" });
    await readUntil(sessions, sessionId, ({ event }) => event.type === "upstream.settled");
    const call = await conversation.invoke(nextPrompt, { signal });
    let last: unknown;
    for await (const event of call) last = event;
    expect(last).toMatchObject({ type: "end", outcome: "completed" });
  });

  it("A cancelled turn closes the connection to a streaming model [ACP-111]", async () => {
    const { model, provider } = await onModel(hangs("One moment"));
    const client = await connectAcpClient(sessionsWith(provider));
    const sessionId = await client.newSession();
    const answer = client.requestResult("session/prompt", prompt(sessionId, "Hello"));
    await client.waitForMessage(() => readAgentText(client) !== "");
    expect(model.sockets.size).toBe(1);
    cancel(client, sessionId);
    expect(await answer).toEqual({ stopReason: "cancelled" });
    await model.waitUntilQuiet();
  });

  it("A cancel also withdraws the client's own queued prompts and keeps the prompts of other clients [ACP-112]", async () => {
    const provider = createScriptedProvider([hangsThere(), saysThere("Yes.")]);
    const sessions = sessionsWith(provider);
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const first = client.requestResult("session/prompt", prompt(sessionId, "One"));
    await client.waitForMessage(() => readAgentText(client) !== "");
    const waiting = [
      client.requestResult("session/prompt", prompt(sessionId, "Two")),
      client.requestResult("session/prompt", prompt(sessionId, "Three")),
    ];
    const other = await connectAcpClient(sessions);
    await other.request("initialize");
    await other.requestResult("session/load", { sessionId, ...SETUP });
    const theirs = other.requestResult("session/prompt", prompt(sessionId, "Four"));
    await readUntil(sessions, sessionId, ({ event }) => JSON.stringify(event).includes("Four"));
    cancel(client, sessionId);
    const cancelled = { stopReason: "cancelled" };
    const queued = { ...cancelled, _meta: { harn: { queued: true } } };
    expect(await Promise.all([first, ...waiting])).toEqual([cancelled, queued, queued]);
    expect(await theirs).toMatchObject({ stopReason: "end_turn" });
    expect(provider.invocations.map(({ input }) => input.texts)).toEqual([["One"], ["Four"]]);
  });
});

describe("Trace context of a prompt", () => {
  const TRACE = {
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    tracestate: "congo=t61rcWkgMzE",
    baggage: "userId=alice,serverNode=DF%2028",
  };

  it("The trace context is sent with every request to the provider [ACP-134]", async () => {
    const { provider, sent } = await onEmulator();
    const client = await connectAcpClient(sessionsWith(provider));
    const sessionId = await client.newSession();
    await client.requestResult("session/prompt", prompt(sessionId, "Hello", TRACE));
    await client.requestResult("session/prompt", prompt(sessionId, "Hello again"));
    const [first, second] = sent.filter(({ url }) => url.pathname.includes("invoke"));
    expect(first?.headers).toMatchObject(TRACE);
    for (const name of Object.keys(TRACE)) expect(second?.headers).not.toHaveProperty(name);
  });

  it("The trace context is sent with every request to a model, without invalid headers [ACP-134]", async () => {
    const { model, provider } = await onModel(says("Hi"));
    const client = await connectAcpClient(sessionsWith(provider));
    const sessionId = await client.newSession();
    await client.requestResult("session/prompt", prompt(sessionId, "Hello", TRACE));
    const broken = { ...TRACE, tracestate: "a\r\nx-evil: 1", baggage: "b".repeat(9000) };
    await client.requestResult(
      "session/prompt",
      prompt(sessionId, "Hello", { ...broken, traceId: 1 }),
    );
    const [first, second] = model.requests;
    expect(first?.headers).toMatchObject(TRACE);
    expect(second?.headers).toMatchObject({ traceparent: TRACE.traceparent });
    expect(second?.headers).not.toHaveProperty("tracestate");
    expect(second?.headers).not.toHaveProperty("baggage");
    expect(second?.headers).not.toHaveProperty("x-evil");
  });
});

describe("Missing credentials", () => {
  it("New, load, resume, fork and prompt fail before any work starts, and credentials are read again afterwards [ACP-33] [ACP-34]", async () => {
    let found: Credentials | undefined = TEST_CREDENTIALS;
    const credentials = async (): Promise<Credentials> => {
      if (found !== undefined) return { ...found, expiresAt: 0 };
      throw new SpanlineError("no_credentials", "No AWS credentials: sign in with `aws sso login`");
    };
    const { provider, sent } = await onEmulator({}, { credentials });
    const sessions = sessionsWith(provider);
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    found = undefined;
    for (const method of ["new", "load", "resume", "fork", "prompt"]) {
      const params = { ...SETUP, ...prompt(sessionId, "Hello") };
      const { error } = await client.request(`session/${method}`, params);
      expect([method, error]).toEqual([
        method,
        {
          code: -32000,
          message: expect.stringContaining("aws sso login"),
          data: expect.objectContaining({
            code: "no_credentials",
            authMethods: ["environment"],
          }),
        },
      ]);
    }
    expect(sent).toEqual([]);
    expect((await sessions.list({ limit: 10 })).sessions).toHaveLength(1);
    found = TEST_CREDENTIALS;
    await client.requestResult("authenticate", { methodId: "environment" });
    await client.requestResult("session/load", { sessionId, ...SETUP });
    expect(await client.requestResult("session/prompt", prompt(sessionId, "Hello"))).toMatchObject({
      stopReason: "end_turn",
    });
  });

  it("A credential check without a result does not delay a session [ACP-33]", async () => {
    const clock = createFakeClock();
    const checkCredentials = (): Promise<void> => new Promise(() => {});
    const provider = { ...createScriptedProvider([saysThere("Hi")]), checkCredentials };
    const client = await connectAcpClient(sessionsWith(provider, {}, clock));
    const begun = client.newSession();
    await advanceUntil(clock, begun);
    const answer = client.requestResult("session/prompt", prompt(await begun, "Hello"));
    expect(await answer).toMatchObject({ stopReason: "end_turn" });
  });
});
