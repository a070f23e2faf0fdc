import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import type { ProviderEvent } from "../../src/domain/provider/provider-event.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { createSessions } from "../../src/session/runtime/create-sessions.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Row } from "../report.ts";

const WORKERS = 1000;
const OPEN = 8;
const principal = { id: "bench", rights: ["prompt", "approve", "control"] } as const;

/**
 * The time of a worker from its start to its end, with all logs on the disk: 1,000 workers of a session, at most 8 at
 * the same time.
 */
export async function measureWorkers(): Promise<Row> {
  const growth = [];
  for (const times of [1, 4, 16]) {
    const workers = Math.floor(WORKERS / 16) * times;
    const milliseconds = await runWorkers(workers);
    growth.push({ times, cost: (milliseconds * 1000) / workers });
  }
  const [small, , large] = growth.map(({ cost }) => cost);
  return {
    title: `workers: ${WORKERS} workers of a session, ${OPEN} at a time`,
    unit: "µs/worker",
    measured: [{ name: "spawn, session, turn, result and close, synced", rounds: [large ?? 0] }],
    growth,
    ratios: [
      {
        text: `time per worker with ${WORKERS} ÷ with ${Math.floor(WORKERS / 16)}`,
        value: (large ?? Number.NaN) / (small ?? Number.NaN),
        target: 1.5,
        bound: "at most",
      },
    ],
  };
}

/** Milliseconds until all workers are closed. */
async function runWorkers(count: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  const store = await openSqliteStore({ file: join(folder, "sessions.db") });
  const agents = [
    defineAgent({ name: "lead", provider: createProvider(), workers: { maxOpen: OPEN } }),
  ];
  const sessions = createSessions({ store, agents, clock: systemClock, owner: "bench" });
  try {
    const { sessionId } = await sessions.open({ principal });
    const end = new AbortController();
    const start = performance.now();
    let started = 0;
    let closed = 0;
    const delegate = (): void => {
      if (started === count) return;
      started += 1;
      const command = {
        type: "delegate",
        task: `Task ${started}`,
        isRetriggerable: false,
      } as const;
      void sessions.command(sessionId, command, { principal });
    };
    for (let worker = 0; worker < OPEN; worker++) delegate();
    for await (const { events } of sessions.subscribe(sessionId, undefined, end.signal)) {
      for (const { event } of events) {
        if (event.type === "worker.completed") delegate();
        if (event.type === "worker.closed") closed += 1;
      }
      if (closed === count) end.abort();
    }
    return performance.now() - start;
  } finally {
    await sessions.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A provider with immediate answers. */
function createProvider(): Provider {
  return {
    name: "instant",
    injectionPoints: ["turn-start", "tool-results", "turn-end"],
    effectFree: true,
    open: ({ sessionId = "" } = {}) => ({
      id: sessionId,
      async invoke() {
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
  { type: "text.delta", message: 0, block: 0, text: "Done." },
  { type: "text.end", message: 0, block: 0, text: "Done." },
  { type: "message.end", message: 0, reason: "end_turn" },
  { type: "end", outcome: "completed", reason: "end_turn", openToolCallIds: [], usage: null },
];
