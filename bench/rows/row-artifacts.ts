import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import type { JsonObject } from "../../src/data/json.ts";
import { createToolCall } from "../../src/domain/tools/tool-call.ts";
import type { ProviderEvent } from "../../src/domain/provider/provider-event.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { createSessions } from "../../src/session/runtime/create-sessions.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const ARTIFACTS = 10_000;
/** Artifacts per turn. The tool calls of one message run in parallel. */
const PER_TURN = 125;
const principal = { id: "bench", rights: ["prompt", "approve", "control"] } as const;
const ARTIFACT: JsonObject = {
  kind: "table",
  title: "Sales",
  spec: {
    columns: ["region", "count"],
    rows: Array.from({ length: 20 }, (_, at) => ["north", at]),
  },
};

/** Measures 10,000 artifacts of a session, with blobs and log on the disk. */
export async function measureArtifacts(): Promise<Row> {
  const growth = [];
  for (const times of [1, 4, 16]) {
    const units = (ARTIFACTS / 16) * times;
    const costs: number[] = [];
    for (let round = 0; round < (times === 16 ? 1 : 3); round++)
      costs.push(await emitArtifacts(units));
    growth.push({ times, cost: computeMedian(costs) });
  }
  const [small, , large] = growth.map(({ cost }) => cost);
  return {
    title: `artifacts: ${ARTIFACTS} artifacts of a session, on the disk`,
    unit: "µs CPU/artifact",
    measured: [{ name: "emit_artifact, from the tool call to the log", rounds: [large ?? 0] }],
    growth,
    ratios: [
      {
        text: `cost per artifact with ${ARTIFACTS} ÷ with ${ARTIFACTS / 16}`,
        value: (large ?? Number.NaN) / (small ?? Number.NaN),
        target: 1.5,
        bound: "at most",
      },
    ],
  };
}

/** Returns the microseconds of CPU per artifact. */
async function emitArtifacts(count: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  const store = await openSqliteStore({ file: join(folder, "sessions.db") });
  const agent = defineAgent({
    name: "emitter",
    provider: createEmittingProvider(),
    runtimeTools: ["emit_artifact"],
    caps: { toolCalls: PER_TURN, parallelTools: 8 },
  });
  const sessions = createSessions({ store, agents: [agent], clock: systemClock, owner: "bench" });
  try {
    const { sessionId } = await sessions.open({ principal });
    const end = new AbortController();
    const batches = sessions.subscribe(sessionId, undefined, end.signal);
    let emitted = 0;
    const finished = (async function* () {
      for await (const { events } of batches)
        for (const { event } of events) {
          if (event.type === "artifact.emitted") emitted += 1;
          if (event.type === "turn.finished") yield event;
        }
    })();
    const start = process.cpuUsage();
    const content = [{ type: "text", text: "Emit" }] as const;
    for (let turn = 0; turn < count / PER_TURN; turn++) {
      await sessions.command(sessionId, { type: "prompt", content }, { principal });
      await finished.next();
    }
    const { user, system } = process.cpuUsage(start);
    end.abort();
    if (emitted !== count) throw new Error(`${emitted} of ${count} artifacts were emitted`);
    return (user + system) / count;
  } finally {
    await sessions.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates a provider with `PER_TURN` tool calls in the first message of a turn, and no text. */
function createEmittingProvider(): Provider {
  return {
    name: "emitting",
    injectionPoints: [],
    effectFree: true,
    open: ({ sessionId = "" } = {}) => {
      let invocations = 0;
      return {
        id: sessionId,
        async invoke() {
          invocations += 1;
          const events = invocations % 2 === 1 ? listCalls() : DONE;
          return {
            requestId: "",
            close: () => undefined,
            async *[Symbol.asyncIterator]() {
              yield* events;
            },
          };
        },
      };
    },
  };
}

function listCalls(): readonly ProviderEvent[] {
  const inputText = JSON.stringify(ARTIFACT);
  const calls = Array.from({ length: PER_TURN }, (_, block): readonly ProviderEvent[] => {
    const fields = { id: `call_${block}`, name: "emit_artifact" };
    const toolCall = createToolCall({ ...fields, inputText, runBy: "client" });
    const place = { message: 0, block };
    return [
      { type: "tool.start", ...place, toolCallId: fields.id, name: fields.name },
      { type: "tool.end", ...place, toolCall },
    ];
  });
  const openToolCallIds = calls.map((_, block) => `call_${block}`);
  return [
    { type: "message.start", message: 0, role: "assistant" },
    ...calls.flat(),
    { type: "message.end", message: 0, reason: "tool_use" },
    { type: "end", outcome: "action-required", reason: "tool_use", openToolCallIds, usage: null },
  ];
}

const DONE: readonly ProviderEvent[] = [
  { type: "message.start", message: 0, role: "assistant" },
  { type: "message.end", message: 0, reason: "end_turn" },
  { type: "end", outcome: "completed", reason: "end_turn", openToolCallIds: [], usage: null },
];
