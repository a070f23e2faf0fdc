import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import { isObject } from "../../../src/data/json.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { EventBatch } from "../../../src/store/log-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { connectAcpClient, readText, USER, type AcpPeer } from "../../support/acp/acp-client.ts";
import { startAcpServer } from "../../support/acp/acp-server.ts";
import { createTickCounter, type TickCounter } from "../../support/tick-counter.ts";
import { says, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, openSessions } from "../../support/session/session-world.ts";
import { allowLongTests } from "../../support/test-depth.ts";

allowLongTests();

const SETUP = { cwd: "/work", mcpServers: [] };
const TURNS = 5000;
/** Two pages for a load or resume and a batch for the subscription. */
const MOST_IN_A_TURN = 3 * 512;

/** A prompt and its response. */
function turnOf(count: number): SessionEvent[] {
  const turnId = `turn_${count}`;
  const promptId = `prompt_${count}`;
  const messageId = `msg_${count}`;
  const content = [{ type: "text", text: `Question ${count}` }] as const;
  const end = { outcome: "completed", reason: null, usage: null, steps: 1 } as const;
  return [
    { type: "prompt.accepted", promptId, content },
    { type: "turn.started", turnId, promptId },
    { type: "message.sent", messageId: `${messageId}_q`, content, origin: "prompt", promptId },
    { type: "message.started", messageId, role: "assistant" },
    { type: "text.finished", messageId, block: 0, text: `Answer ${count}` },
    { type: "message.finished", messageId, reason: null },
    { type: "turn.finished", turnId, ...end },
  ];
}

/** Real sessions on a real file, including a session with ten thousand messages. */
async function world(principal: string) {
  const folder = mkdtempSync(join(tmpdir(), "spanline-long-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // Disk syncs are disabled: the test measures the history, not the disk.
  const store = await openSqliteStore({ file: join(folder, "log.db"), datasync: async () => {} });
  onTestFinished(() => store.close());
  const agent = createAgent({ provider: createScriptedProvider([says("Hi")]) });
  const before = openSessions(store, agent);
  const { sessionId } = await before.open({ principal: { ...USER, id: principal } });
  await before.close();
  const { lease } = await store.acquire(sessionId, { owner: "past", now: 0, durationMs: 1 });
  let seq = (await store.readHead(sessionId))?.seq ?? 0;
  for (let count = 0; count < TURNS; count += 100) {
    const turns = Array.from({ length: 100 }, (_, at) => turnOf(count + at)).flat();
    const events = turns.map((event) => ({ at: 0, visibility: "public", event }) as const);
    await store.append(lease, seq, { events, sync: false });
    seq += events.length;
  }
  const turns = createTickCounter();
  const sessions = openSessions(countEvents(store, turns), agent);
  onTestFinished(() => sessions.close());
  return { sessions, sessionId, turns };
}

/** The same store, with all returned events counted per tick. */
function countEvents(store: Store, turns: TickCounter): Store {
  async function* batches(input: Parameters<Store["subscribe"]>): AsyncGenerator<EventBatch> {
    for await (const batch of store.subscribe(...input)) {
      turns.count(batch.events.length);
      yield batch;
    }
  }
  const all = async (reading: ReturnType<Store["read"]>): ReturnType<Store["read"]> => {
    const events = await reading;
    turns.count(events.length);
    return events;
  };
  return {
    ...store,
    read: (...args) => all(store.read(...args)),
    readPage: (...args) => all(store.readPage(...args)),
    subscribe: (...args) => batches(args),
  };
}

/** The message texts sent to a client. */
function listTexts(client: AcpPeer, sessionId: string): readonly string[] {
  return client
    .listUpdates(sessionId)
    .flatMap(({ content }) => (isObject(content) ? [readText(content["text"])] : []));
}

const SAID = Array.from({ length: TURNS }, (_, at) => [`Question ${at}`, `Answer ${at}`]).flat();

describe("Session of ten thousand messages", () => {
  it.each(["session/load", "session/resume"])(
    "During a %s of the session the same client's other session stays responsive [ACP-64]",
    async (method) => {
      const { sessions, sessionId } = await world(USER.id);
      const client = await connectAcpClient(sessions);
      const quick = await client.newSession();
      const loading = client.request(method, { sessionId, ...SETUP });
      const loaded = { isDone: false };
      void loading.then(() => Object.assign(loaded, { isDone: true }));
      let answered = 0;
      while (!loaded.isDone) {
        const answer = await client.request("session/resume", { sessionId: quick, ...SETUP });
        expect(answer["result"]).toBeDefined();
        if (!loaded.isDone) answered += 1;
      }
      expect(answered).toBeGreaterThan(5);
      expect(listTexts(client, sessionId)).toEqual(method === "session/load" ? SAID : []);
      const prompt = [{ type: "text", text: "And now?" }];
      expect(await client.requestResult("session/prompt", { sessionId, prompt })).toMatchObject({
        stopReason: "end_turn",
      });
    },
  );

  it.each(["session/load", "session/resume"])(
    "A %s and the next prompt yield to the event loop after a few hundred events [ACP-64]",
    async (method) => {
      const { sessions, sessionId, turns } = await world(USER.id);
      const client = await connectAcpClient(sessions);
      await client.newSession();
      await client.requestResult(method, { sessionId, ...SETUP });
      const prompt = [{ type: "text", text: "And now?" }];
      await client.requestResult("session/prompt", { sessionId, prompt });
      expect(turns.maxPerTick()).toBeGreaterThan(0);
      expect(turns.maxPerTick()).toBeLessThanOrEqual(MOST_IN_A_TURN);
    },
  );

  it("During a replay over a WebSocket another client of the server can prompt [ACP-64]", async () => {
    const { sessions, sessionId } = await world("local");
    const server = await startAcpServer(sessions);
    const client = await server.connect();
    await client.newSession();
    const other = await server.connect();
    const quick = await other.newSession();
    const loading = client.request("session/load", { sessionId, ...SETUP });
    const prompt = [{ type: "text", text: "Quick" }];
    const answer = await other.requestResult("session/prompt", { sessionId: quick, prompt });
    expect(readText(answer["stopReason"])).toBe("end_turn");
    expect(client.messages.some(({ id, result }) => id === 3 && result !== undefined)).toBe(false);
    expect((await loading)["error"]).toBe(undefined);
  });
});
