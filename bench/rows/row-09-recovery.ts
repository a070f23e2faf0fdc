import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import { evolve } from "../../src/session/evolve.ts";
import { loadState, saveState } from "../../src/session/runtime/log/load-state.ts";
import { initialState, type SessionState } from "../../src/session/session-state.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { measure, computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const EVENTS = 10_000;
const SESSION = "ses_bench";

/** Resuming a session: opening its file and folding its log, compared with reading the same events as JSON lines. */
export async function measureRecovery(): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  try {
    const whole = await createSubjects(folder, EVENTS);
    const measured = await measure(
      [
        { name: "spanline, open + fold", run: () => whole.recover("plain") },
        { name: "spanline, from a snapshot 500 events back", run: () => whole.recover("snapshot") },
        { name: "file read + JSON.parse", run: () => whole.parse() },
      ],
      { units: EVENTS },
    );
    const [plain = Number.NaN, snapshot = Number.NaN, parse = Number.NaN] = measured.map(
      ({ rounds }) => computeMedian(rounds),
    );
    const growth = [];
    for (const times of [1, 4, 16]) {
      const units = (EVENTS / 4) * times;
      const grown = await createSubjects(join(folder, String(times)), units);
      const run = (): Promise<unknown> => grown.recover("plain");
      const [cost] = await measure([{ name: "", run }], { units, rounds: 5 });
      growth.push({ times, cost: computeMedian(cost?.rounds ?? []) });
    }
    return {
      title: `recovery of a session of ${EVENTS} events`,
      unit: "µs CPU/event",
      measured,
      growth,
      ratios: [
        { text: "open + fold ÷ read + parse", value: plain / parse, target: 3, bound: "at most" },
        {
          text: "from a snapshot ÷ read + parse",
          value: snapshot / parse,
          target: 0.5,
          bound: "at most",
        },
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function createSubjects(folder: string, events: number) {
  const plain = join(folder, "plain.db");
  const snapshot = join(folder, "snapshot.db");
  const lines = join(folder, "events.jsonl");
  for (const file of [plain, snapshot]) await fillStore(file, events, file === snapshot);
  const store = await openSqliteStore({ file: plain, readOnly: true });
  const log = await store.read(SESSION, 0, events);
  await store.close();
  writeFileSync(lines, log.map((envelope) => JSON.stringify(envelope)).join("\n"));
  return {
    async recover(which: "plain" | "snapshot"): Promise<void> {
      const opened = await openSqliteStore({ file: which === "plain" ? plain : snapshot });
      const head = await opened.readHead(SESSION);
      if (head === undefined) throw new Error("The session has no log");
      const state = await loadState(opened, SESSION, head);
      if (state.seq !== events) throw new Error(`Only ${state.seq} events came`);
      await opened.close();
    },
    parse(): void {
      const read = readFileSync(lines, "utf8").split("\n");
      const count = read.map((line): unknown => JSON.parse(line)).length;
      if (count !== events) throw new Error(`Only ${count} events came`);
    },
  };
}

/** Repeated turns with a prompt, twenty deltas and an end. */
async function fillStore(file: string, events: number, keepsSnapshot: boolean): Promise<void> {
  const store = await openSqliteStore({ file });
  const { lease } = await store.acquire(SESSION, { owner: "bench", now: 0, durationMs: 1 });
  let state: SessionState = initialState;
  for (let seq = 0; seq < events; seq += 100) {
    const drafts = Array.from({ length: Math.min(100, events - seq) }, (_, at) => ({
      at: seq + at,
      visibility: "public" as const,
      event: createEvent(seq + at),
    }));
    await store.append(lease, seq, { events: drafts, sync: false });
    state = drafts.reduce(evolve, state);
    if (keepsSnapshot && seq + 100 === events - 500) await saveState(store, lease, state);
  }
  await store.close();
}

function createEvent(seq: number): SessionEvent {
  const turn = Math.floor(seq / 25);
  const messageId = `msg_${turn}_0`;
  const text = "Some words of an answer ";
  switch (seq % 25) {
    case 0:
      return {
        type: "prompt.accepted",
        promptId: `prompt_${turn}`,
        content: [{ type: "text", text: "What next?" }],
      };
    case 1:
      return { type: "turn.started", turnId: `turn_${turn}`, promptId: `prompt_${turn}` };
    case 2:
      return {
        type: "invocation.started",
        invocationId: `call_${turn}`,
        upstreamId: "spanline-bench",
        purpose: "prompt",
      };
    case 3:
      return { type: "message.started", messageId, role: "assistant" };
    case 23:
      return { type: "text.finished", messageId, block: 0, text: text.repeat(19) };
    case 24:
      return {
        type: "turn.finished",
        turnId: `turn_${turn}`,
        outcome: "completed",
        reason: "end_turn",
        usage: null,
        steps: 1,
      };
    default:
      return { type: "text.delta", messageId, block: 0, text };
  }
}
