import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import type { ModelMessage } from "../../src/domain/model/model-request.ts";
import type { ProviderEvent } from "../../src/domain/provider/provider-event.ts";
import { createToolCall, createToolSuccess } from "../../src/domain/tools/tool-call.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { createSessions, type RunningSessions } from "../../src/session/runtime/create-sessions.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const MESSAGES = 10_000;
const ROUNDS = 5;
/** A command adds at most 2,000 messages. */
const MAX_ADDED_MESSAGES = 2000;
const principal = { id: "bench", rights: ["prompt", "approve", "control"] } as const;

/** The CPU time of compacting 10,000 messages with a summary: log, plan, text for the model, and the stored archive. */
export async function measureCompaction(): Promise<Row> {
  await measureRounds(MESSAGES / 16);
  const growth = [];
  let perMessage: readonly number[] = [];
  for (const times of [1, 4, 16]) {
    const count = (MESSAGES / 16) * times;
    perMessage = (await measureRounds(count)).map((cost) => cost / count);
    growth.push({ times, cost: computeMedian(perMessage) });
  }
  const [small, , large] = growth.map(({ cost }) => cost);
  return {
    title: `compaction of ${MESSAGES} messages`,
    unit: "µs CPU/message",
    measured: [{ name: "from the command to the receipt, synced", rounds: perMessage }],
    growth,
    ratios: [
      {
        text: `cost per message with ${MESSAGES} ÷ with ${MESSAGES / 16}`,
        value: (large ?? Number.NaN) / (small ?? Number.NaN),
        target: 1.2,
        bound: "at most",
      },
    ],
  };
}

/** CPU microseconds per round. Each round compacts a new session. */
async function measureRounds(count: number): Promise<readonly number[]> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  const store = await openSqliteStore({ file: join(folder, "sessions.db") });
  const compaction = { strategy: "hybrid", keepLast: 10 } as const;
  const agents = [defineAgent({ name: "bench", provider: createSummarizer(), compaction })];
  const sessions = createSessions({ store, agents, clock: systemClock, owner: "bench" });
  const rounds: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const history = createHistory(count);
      const { sessionId } = await sessions.open({ principal });
      for (let start = 0; start < history.length; start += MAX_ADDED_MESSAGES) {
        const messages = history.slice(start, start + MAX_ADDED_MESSAGES);
        await sessions.command(sessionId, { type: "add-history", messages }, { principal });
      }
      const before = process.cpuUsage();
      await sessions.command(sessionId, { type: "compact" }, { principal });
      await waitForReceipt(sessions, sessionId);
      const { user, system } = process.cpuUsage(before);
      rounds.push(user + system);
    }
  } finally {
    await sessions.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return rounds;
}

async function waitForReceipt(sessions: RunningSessions, sessionId: string): Promise<void> {
  const end = new AbortController();
  for await (const { events } of sessions.subscribe(sessionId, undefined, end.signal))
    for (const { event } of events) {
      if (event.type === "compaction.ended") throw new Error(`Not compacted: ${event.reason}`);
      if (event.type === "transcript.compacted") end.abort();
    }
}

/** Rounds of a prompt, a tool call, its result and an answer. */
function createHistory(count: number): ModelMessage[] {
  const output = "A line of the output of a tool.\n".repeat(8);
  return Array.from({ length: count / 4 }, (_, round): ModelMessage[] => {
    const id = `call_${round}`;
    const inputText = JSON.stringify({ path: `src/file-${round}.ts` });
    const call = { id, name: "read", inputText, runBy: "client" } as const;
    return [
      { role: "user", blocks: [{ type: "text", text: `Question ${round}` }] },
      { role: "assistant", blocks: [{ type: "tool-call", toolCall: createToolCall(call) }] },
      { role: "user", blocks: [{ type: "tool-result", result: createToolSuccess(id, output) }] },
      { role: "assistant", blocks: [{ type: "text", text: `Answer ${round}` }] },
    ];
  }).flat();
}

/** A provider without a history of its own which answers with a short text. */
function createSummarizer(): Provider {
  const text = "A summary.";
  const answer: readonly ProviderEvent[] = [
    { type: "message.start", message: 0, role: "assistant" },
    { type: "text.delta", message: 0, block: 0, text },
    { type: "text.end", message: 0, block: 0, text },
    { type: "message.end", message: 0, reason: "end_turn" },
    { type: "end", outcome: "completed", reason: "end_turn", openToolCallIds: [], usage: null },
  ];
  return {
    name: "summarizer",
    injectionPoints: ["turn-start", "tool-results", "turn-end"],
    effectFree: true,
    keepsHistory: false,
    open: ({ sessionId = "" } = {}) => ({
      id: sessionId,
      async invoke() {
        return {
          requestId: "",
          close: () => undefined,
          async *[Symbol.asyncIterator]() {
            yield* answer;
          },
        };
      },
    }),
  };
}
