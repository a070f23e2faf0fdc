import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countItems } from "../../src/data/chunked-list.ts";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import type { ProviderEvent } from "../../src/domain/provider/provider-event.ts";
import type { PromptPart } from "../../src/domain/prompt.ts";
import type { SessionCommand } from "../../src/domain/session-command.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { decide } from "../../src/session/decide.ts";
import { evolve } from "../../src/session/evolve.ts";
import { createSessions } from "../../src/session/runtime/create-sessions.ts";
import { initialState, type SessionState } from "../../src/session/session-state.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { computeMedian, measure } from "../measure.ts";
import type { Row } from "../report.ts";

const INJECTS = 200;
const QUEUED = 10_000;
const principal = { id: "bench", rights: ["prompt", "approve", "control"] } as const;

/**
 * The time from an injected message to the request of a waiting daemon, with the log on the disk [W-16]; and the cost of
 * a long queue: 10,000 messages are accepted and delivered.
 */
export async function measureSteering(): Promise<Row> {
  const latencies = (await measureWakeUps()).slice(INJECTS / 10).toSorted((a, b) => a - b);
  const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
  const growth = [];
  for (const times of [1, 4, 16]) {
    const units = (QUEUED / 16) * times;
    const run = (): void => queueAndDeliver(units);
    const [cost] = await measure([{ name: "", run }], { units, rounds: 5 });
    growth.push({ times, cost: computeMedian(cost?.rounds ?? []) });
  }
  const [small, , large] = growth.map(({ cost }) => cost);
  return {
    title: `steering: a waiting daemon, and ${QUEUED} queued messages`,
    unit: "ms; growth in µs CPU/message",
    measured: [{ name: "inject to the provider's request, synced", rounds: latencies }],
    growth,
    ratios: [
      { text: "inject to request, p99 in ms", value: p99, target: 10, bound: "at most" },
      {
        text: `cost per message with ${QUEUED} ÷ with ${QUEUED / 16}`,
        value: (large ?? Number.NaN) / (small ?? Number.NaN),
        target: 1.5,
        bound: "at most",
      },
    ],
  };
}

/** Milliseconds from each inject command to the invocation which carries its message. */
async function measureWakeUps(): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  const store = await openSqliteStore({ file: join(folder, "sessions.db") });
  let onInvoked = (): void => {};
  const provider = createWaitingProvider(() => onInvoked());
  const agents = [defineAgent({ name: "daemon", provider, daemon: true })];
  const sessions = createSessions({ store, agents, clock: systemClock, owner: "bench" });
  const latencies: number[] = [];
  try {
    const { sessionId } = await sessions.open({ principal });
    const end = new AbortController();
    const turns = sessions.subscribe(sessionId, undefined, end.signal);
    const finished = (async function* () {
      for await (const { events } of turns)
        for (const { event } of events) if (event.type === "turn.finished") yield event;
    })();
    for (let round = 0; round < INJECTS; round++) {
      const invoked = new Promise<void>((resolve) => {
        onInvoked = resolve;
      });
      const start = performance.now();
      const content = [{ type: "text", text: `News ${round}` }] as const;
      void sessions.command(sessionId, { type: "inject", mode: "queue", content }, { principal });
      await invoked;
      latencies.push(performance.now() - start);
      await finished.next();
    }
    end.abort();
  } finally {
    await sessions.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return latencies;
}

/** A provider whose only response is a short final message. */
function createWaitingProvider(onInvoked: () => void): Provider {
  return {
    name: "waiting",
    injectionPoints: ["turn-start", "tool-results", "turn-end"],
    effectFree: true,
    open: ({ sessionId = "" } = {}) => ({
      id: sessionId,
      async invoke() {
        onInvoked();
        return {
          requestId: "",
          close: () => undefined,
          async *[Symbol.asyncIterator]() {
            yield* ANSWER;
          },
        };
      },
    }),
  };
}

const ANSWER: readonly ProviderEvent[] = [
  { type: "message.start", message: 0, role: "assistant" },
  { type: "message.end", message: 0, reason: "end_turn" },
  { type: "end", outcome: "completed", reason: "end_turn", openToolCallIds: [], usage: null },
];

/** Accepts messages while a turn runs, and delivers all of them at its end. */
function queueAndDeliver(count: number): void {
  const { spec } = defineAgent({ name: "bench", provider: createWaitingProvider(() => undefined) });
  let state: SessionState = initialState;
  let at = 1;
  const send = (input: Parameters<typeof decide>[1]): void => {
    for (const draft of decide(state, input).events) state = evolve(state, draft);
  };
  const command = (made: SessionCommand<PromptPart>): void => {
    at += 1;
    const seed = String(at).padStart(13, "0");
    const actor = { kind: "user", principal: "bench" } as const;
    send({ type: "command-received", command: made, actor, rights: principal.rights, at, seed });
  };
  const agent = { digest: "bench", spec };
  send({ type: "open-requested", agent, principal: "bench", at, seed: "0".repeat(13) });
  const content = [{ type: "text", text: "Hello" }] as const;
  command({ type: "prompt", content });
  for (let index = 0; index < count; index++) command({ type: "inject", mode: "steer", content });
  const stage = state.turn.current?.stage;
  if (stage?.type !== "invoking" || countItems(state.steering.pending) !== count)
    throw new Error("The messages were not queued");
  const outputs = ANSWER.map((event) => ({ event }));
  const { invocationId } = stage.invocation;
  send({ type: "provider-events", invocationId, outputs, at, seed: "1".repeat(13) });
  if (state.steering.pending.length > 0) throw new Error("The messages were not delivered");
}
