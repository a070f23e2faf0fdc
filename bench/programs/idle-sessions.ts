import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import type { ProviderEvent } from "../../src/domain/provider/provider-event.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { createSessions } from "../../src/session/runtime/create-sessions.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

/** Opens sessions, runs turns in each, waits for their eviction, and reports the remaining memory. */
const SESSIONS = 300;
const TURNS = 100;
const IDLE_MS = 500;
const principal = { id: "bench", rights: ["prompt", "approve", "control"] } as const;

const provider: Provider = {
  name: "echo",
  injectionPoints: ["turn-start"],
  effectFree: true,
  open: ({ sessionId = "none" } = {}) => ({
    id: sessionId,
    invoke: () =>
      Promise.resolve({
        requestId: undefined,
        close() {},
        async *[Symbol.asyncIterator](): AsyncGenerator<ProviderEvent> {
          yield { type: "message.start", message: 0, role: "assistant" };
          yield { type: "text.end", message: 0, block: 0, text: "So it is. ".repeat(20) };
          yield { type: "message.end", message: 0, reason: "end_turn" };
          const how = {
            outcome: "completed",
            reason: "end_turn",
            openToolCallIds: [],
            usage: null,
          };
          yield { type: "end", ...how } as const as ProviderEvent;
        },
      }),
  }),
};

const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
const store = await openSqliteStore({
  file: join(folder, "sessions.db"),
  datasync: async () => {},
});
const agents = [defineAgent({ name: "echo", provider })];
const clock = systemClock;
const sessions = createSessions({ store, agents, clock, owner: "bench", idleMs: IDLE_MS });

await runTurns(await openSession());
const bytesBefore = measureHeap();
const ids: string[] = [];
for (let at = 0; at < SESSIONS; at++) {
  const sessionId = await openSession();
  await runTurns(sessionId);
  ids.push(sessionId);
}
await new Promise((resolve) => setTimeout(resolve, 3 * IDLE_MS));
const bytes = (measureHeap() - bytesBefore) / SESSIONS;
const wakes: number[] = [];
for (const sessionId of ids.slice(0, 50)) {
  const start = performance.now();
  await sessions.command(sessionId, { type: "set-title", title: "Awake" }, { principal });
  wakes.push(performance.now() - start);
}
await sessions.close();
await store.close();
rmSync(folder, { recursive: true, force: true });
process.send?.({ bytes, wakes }, () => process.exit());

async function openSession(): Promise<string> {
  const { sessionId } = await sessions.open({ principal });
  return sessionId;
}

async function runTurns(sessionId: string): Promise<void> {
  const end = new AbortController();
  const content = [{ type: "text", text: "Is it so?" }] as const;
  const prompt = (): Promise<unknown> =>
    sessions.command(sessionId, { type: "prompt", content }, { principal });
  let finished = 0;
  void prompt();
  for await (const { events } of sessions.subscribe(sessionId, undefined, end.signal)) {
    for (const { event } of events) {
      if (event.type !== "turn.finished") continue;
      finished += 1;
      if (finished === TURNS) end.abort();
      else void prompt();
    }
  }
}

function measureHeap(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
