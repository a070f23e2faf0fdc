import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import { openAiCompatible } from "../../src/models/openai-compatible.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { toBodyParts, createHttpClient, type HttpRequest } from "../../src/platform/http-client.ts";
import { localProvider } from "../../src/providers/local/local-provider.ts";
import { createSessions, type RunningSessions } from "../../src/session/runtime/create-sessions.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { computeMedian } from "../measure.ts";

/**
 * A session of a local agent with a given number of stored turns, in a separate process. Reports the CPU time of
 * opening the session, of another turn, and of sending the same request without a session.
 */
export interface LongSession {
  readonly turns: number;
  /** CPU milliseconds of the first turn after a restart, without and with folded history. */
  readonly openFromLog: number;
  readonly openFolded: number;
  /** CPU milliseconds per turn, one figure per round. */
  readonly turn: readonly number[];
  /** CPU milliseconds to send the last request's bytes and read the response, one figure per round. */
  readonly bare: readonly number[];
  readonly requestBytes: number;
}

const ROUNDS = 9;
const TURNS_PER_ROUND = 10;
const WARM_UP_TURNS = 150;
const principal = { id: "bench", rights: ["prompt", "approve", "control"] } as const;

const [turnsText = "10", upstream = ""] = process.argv.slice(2);
const turns = Number(turnsText);
const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
const file = join(folder, "sessions.db");
const { send } = createHttpClient();
let lastRequest: HttpRequest | undefined;
const model = openAiCompatible({
  model: "bench",
  baseUrl: upstream,
  send: (request, signal) => {
    lastRequest = request;
    return send(request, signal);
  },
});
const agents = [
  defineAgent({
    name: "bench",
    provider: localProvider({ model }),
    // The row measures requests with the whole history.
    compaction: { strategy: "none" },
  }),
];
const store = await openSqliteStore({ file, datasync: async () => {} });

const short = await createStoredSession(10);
const long = await createStoredSession(turns);
await withSessions(async (sessions) => {
  for (let turn = 0; turn < WARM_UP_TURNS; turn++) await runTurn(sessions, short);
});
const openFromLog = await withSessions((sessions) => measureCpu(() => runTurn(sessions, long)));
const opens = [];
for (let time = 0; time < 5; time++) {
  opens.push(await withSessions((sessions) => measureCpu(() => runTurn(sessions, long))));
}
const turn: number[] = [];
const bare: number[] = [];
await withSessions(async (sessions) => {
  for (let warm = 0; warm < TURNS_PER_ROUND; warm++) await runTurn(sessions, long);
  for (let round = 0; round < ROUNDS; round++) {
    turn.push(await measureCpuPer(TURNS_PER_ROUND, () => runTurn(sessions, long)));
    const request = lastRequest;
    if (request === undefined) throw new Error("No request was sent");
    bare.push(await measureCpuPer(TURNS_PER_ROUND, () => sendBareRequest(request)));
  }
});
const requestBytes = Buffer.concat(toBodyParts(lastRequest?.body ?? [])).length;
await store.close();
rmSync(folder, { recursive: true, force: true });
const result: LongSession = {
  turns,
  openFromLog,
  openFolded: computeMedian(opens),
  turn,
  bare,
  requestBytes,
};
process.send?.(result, () => process.exit());

async function withSessions<Value>(work: (sessions: RunningSessions) => Promise<Value>) {
  const sessions = createSessions({ store, agents, clock: systemClock, owner: "bench" });
  try {
    return await work(sessions);
  } finally {
    await sessions.close();
  }
}

async function runTurn(sessions: RunningSessions, sessionId: string): Promise<void> {
  const end = new AbortController();
  const { seq = 0, incarnation = "" } = (await store.readHead(sessionId)) ?? {};
  const content = [{ type: "text", text: "What about the next number?" }] as const;
  await sessions.command(sessionId, { type: "prompt", content }, { principal });
  const batches = sessions.subscribe(sessionId, { incarnation, seq }, end.signal);
  for await (const { events } of batches) {
    for (const { event } of events) {
      if (event.type !== "turn.finished") continue;
      if (event.outcome !== "completed") throw new Error(JSON.stringify(event));
      end.abort();
    }
  }
}

async function sendBareRequest(request: HttpRequest): Promise<void> {
  const { body } = await send(request, new AbortController().signal);
  let bytes = 0;
  for await (const chunk of body) bytes += chunk.length;
  if (bytes === 0) throw new Error("The response was empty");
}

async function measureCpuPer(times: number, work: () => Promise<void>): Promise<number> {
  const totalMs = await measureCpu(async () => {
    for (let time = 0; time < times; time++) await work();
  });
  return totalMs / times;
}

/** CPU milliseconds of all threads of this process. Other programs do not affect the value. */
async function measureCpu(work: () => Promise<unknown>): Promise<number> {
  const startUsage = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(startUsage);
  return (user + system) / 1000;
}

async function createStoredSession(count: number): Promise<string> {
  const { sessionId } = await withSessions((sessions) => sessions.open({ principal }));
  const leaseOptions = { owner: "past", now: 0, durationMs: 1, takeOver: true };
  const { lease, head } = await store.acquire(sessionId, leaseOptions);
  let { seq } = head;
  for (let first = 0; first < count; first += 100) {
    const length = Math.min(100, count - first);
    const stored = Array.from({ length }, (_, at) => createTurnEvents(first + at)).flat();
    const events = stored.map((event) => ({ at: 0, visibility: "public", event }) as const);
    await store.append(lease, seq, { events, sync: false });
    seq += events.length;
  }
  return sessionId;
}

/** A prompt, and a response in five deltas. */
function createTurnEvents(count: number): SessionEvent[] {
  const turnId = `turn_${count}`;
  const promptId = `prompt_${count}`;
  const invocationId = `call_${count}`;
  const messageId = `msg_${count}`;
  const content = [{ type: "text", text: `What about number ${count}?` }] as const;
  const block = { messageId, block: 0 };
  const text = "Some words of a response that says something. ";
  const end = { outcome: "completed", reason: "end_turn", usage: null } as const;
  return [
    { type: "prompt.accepted", promptId, content },
    { type: "turn.started", turnId, promptId },
    { type: "message.sent", messageId: `${messageId}_q`, content, origin: "prompt", promptId },
    { type: "invocation.started", invocationId, upstreamId: "local-bench", purpose: "prompt" },
    { type: "message.started", messageId, role: "assistant" },
    ...Array.from({ length: 5 }, () => ({ type: "text.delta", ...block, text }) as const),
    { type: "text.finished", ...block, text: text.repeat(5) },
    { type: "message.finished", messageId, reason: "end_turn" },
    { type: "invocation.finished", invocationId, ...end },
    { type: "turn.finished", turnId, ...end, steps: 1 },
  ];
}
