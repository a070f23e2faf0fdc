import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Draft } from "../../src/domain/events/envelope.ts";
import { loadEngine } from "../../src/store/sqlite/file/engine.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Lease } from "../../src/store/log-store.ts";
import type { Store } from "../../src/store/store.ts";
import { measure, computeMedian, type Measurement, type Subject } from "../measure.ts";
import type { Row } from "../report.ts";

const SESSIONS = 16;
/** Events of a session per append: the typical batch collected during the previous write. */
const EVENTS = 4;
const TURNS = 50;
const UNITS = SESSIONS * EVENTS * TURNS;

/**
 * Appends in transactions of 64 events, observed by a reader per session; compared with plain inserts of the same rows.
 */
export async function measureAppend(): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  const ours = await Promise.all([false, true].map((sync) => createSpanlineSubject(folder, sync)));
  const bare = await Promise.all([false, true].map((sync) => createBareSubject(folder, sync)));
  const subjects = [...ours, ...bare];
  const measured = await measure(subjects, { units: UNITS });
  const growth = [];
  for (const times of [1, 4, 16]) {
    const subject = await createGrowingSubject(folder, times);
    const [result] = await measure([subject], { units: UNITS * times, rounds: 5 });
    growth.push({ times, cost: computeMedian(result?.rounds ?? []) });
    await subject.dispose();
  }
  for (const { dispose } of subjects) await dispose();
  rmSync(folder, { recursive: true, force: true });
  return {
    title: "append + publish, 64 events a transaction, 16 sessions with a reader each",
    unit: "µs CPU/event",
    measured,
    growth,
    ratios: [
      createRatio("bare insert ÷ spanline", measured[2], measured[0]),
      createRatio("bare insert with sync ÷ spanline with sync", measured[3], measured[1]),
    ],
  };
}

function createRatio(text: string, bare: Measurement | undefined, ours: Measurement | undefined) {
  const value = computeMedian(bare?.rounds ?? []) / computeMedian(ours?.rounds ?? []);
  return { text, value, target: 0.65, bound: "at least" } as const;
}

interface DisposableSubject extends Subject {
  readonly dispose: () => Promise<void>;
}

async function createSpanlineSubject(folder: string, sync: boolean): Promise<DisposableSubject> {
  const store = await openSqliteStore({ file: join(folder, `ours-${sync}.db`) });
  const writers = await Promise.all(createIds("ses").map((id) => createWriter(store, id)));
  return {
    name: sync ? "spanline, every append synced" : "spanline",
    run: () => appendTurns(store, writers, { turns: TURNS, sync }),
    dispose: () => store.close(),
  };
}

/** New sessions for each run, so that each grows from zero. */
async function createGrowingSubject(folder: string, times: number): Promise<DisposableSubject> {
  const store = await openSqliteStore({ file: join(folder, `growing-${times}.db`) });
  let runs = 0;
  return {
    name: "spanline",
    async run() {
      runs += 1;
      const writers = await Promise.all(
        createIds(`run_${runs}`).map((id) => createWriter(store, id)),
      );
      await appendTurns(store, writers, { turns: TURNS * times, sync: false });
      for (const { stop } of writers) stop();
    },
    dispose: () => store.close(),
  };
}

function createIds(prefix: string): readonly string[] {
  return Array.from({ length: SESSIONS }, (_, index) => `${prefix}_${index}`);
}

interface Writer {
  readonly lease: Lease;
  seq: number;
  /** Resolves when the reader has received all written events. */
  waitUntilSeen(): Promise<void>;
  readonly stop: () => void;
}

async function createWriter(store: Store, sessionId: string): Promise<Writer> {
  const { lease } = await store.acquire(sessionId, { owner: "bench", now: 0, durationMs: 1 });
  const controller = new AbortController();
  let read = 0;
  let wake = (): void => {};
  void (async () => {
    for await (const { events } of store.subscribe(sessionId, undefined, controller.signal)) {
      read += events.length;
      wake();
    }
  })();
  const writer = {
    lease,
    seq: 0,
    async waitUntilSeen() {
      while (read < writer.seq) await new Promise<void>((resolve) => (wake = resolve));
    },
    stop: () => controller.abort(),
  };
  return writer;
}

/** Appends to all sessions in parallel, then waits until every reader has received the events. */
async function appendTurns(
  store: Store,
  writers: readonly Writer[],
  { turns, sync }: { readonly turns: number; readonly sync: boolean },
): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await Promise.all(
      writers.map(async (writer) => {
        await store.append(writer.lease, writer.seq, { events: createDrafts(writer.seq), sync });
        writer.seq += EVENTS;
      }),
    );
  }
  await Promise.all(writers.map((writer) => writer.waitUntilSeen()));
}

/** Plain inserts of the same rows into SQLite, without leases and readers. */
async function createBareSubject(folder: string, sync: boolean): Promise<DisposableSubject> {
  const { DatabaseSync } = await loadEngine();
  const database = new DatabaseSync(join(folder, `bare-${sync}.db`), { readOnly: false });
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${sync ? "FULL" : "NORMAL"};
    CREATE TABLE events (session TEXT, seq INTEGER, body TEXT, PRIMARY KEY (session, seq)) WITHOUT ROWID`);
  const [begin, commit] = ["BEGIN IMMEDIATE", "COMMIT"].map((sql) => database.prepare(sql));
  const insert = database.prepare("INSERT INTO events VALUES (?, ?, ?)");
  let seq = 0;
  return {
    name: sync ? "bare insert, every transaction synced" : "bare insert",
    run() {
      for (let turn = 0; turn < TURNS; turn++) {
        begin?.run();
        for (const id of createIds("ses")) {
          for (const [index, draft] of createDrafts(seq).entries()) {
            insert.run(id, seq + index + 1, JSON.stringify(draft));
          }
        }
        commit?.run();
        seq += EVENTS;
      }
    },
    dispose: async () => database.close(),
  };
}

function createDrafts(seq: number): readonly Draft[] {
  return Array.from({ length: EVENTS }, (_, index) => ({
    at: 1_800_000_000_000 + seq + index,
    turnId: "turn_01jd3k9x8v000q5w7r2t4y6z8b1",
    actor: { kind: "agent" },
    visibility: "public",
    event: {
      type: "text.delta",
      messageId: "msg_01jd3k9x8v001q5w7r2t4y6z8b1",
      block: 0,
      text: `Some words of an answer, the ${seq + index}th of them.`,
    },
  }));
}
