import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Draft } from "../src/domain/envelope.ts";
import { loadEngine } from "../src/store/sqlite/engine.ts";
import { openSqliteStore } from "../src/store/sqlite/open-sqlite-store.ts";
import type { Lease, Store } from "../src/store/store.ts";
import { measure, median, type Measured, type Subject } from "./measure.ts";
import type { Row } from "./report.ts";

const SESSIONS = 16;
/** Of one session in one append: what a block has gathered while another was on its way. */
const EVENTS = 4;
const TURNS = 50;
const UNITS = SESSIONS * EVENTS * TURNS;

/** Appended, and seen by a reader of each session, in transactions of 64 events; against the same rows inserted. */
export async function appendRow(): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  const ours = await Promise.all([false, true].map((sync) => oursIn(folder, sync)));
  const bare = await Promise.all([false, true].map((sync) => bareIn(folder, sync)));
  const subjects = [...ours, ...bare];
  const measured = await measure(subjects, { units: UNITS });
  const growth = [];
  for (const times of [1, 4, 16]) {
    const subject = await growingIn(folder, times);
    const [result] = await measure([subject], { units: UNITS * times, rounds: 5 });
    growth.push({ times, cost: median(result?.rounds ?? []) });
    await subject.end();
  }
  for (const { end } of subjects) await end();
  rmSync(folder, { recursive: true, force: true });
  return {
    title: "append + publish, 64 events a transaction, 16 sessions with a reader each",
    unit: "µs CPU/event",
    measured,
    growth,
    ratios: [
      ratio("bare insert ÷ spanline", measured[2], measured[0]),
      ratio("bare insert with sync ÷ spanline with sync", measured[3], measured[1]),
    ],
  };
}

function ratio(text: string, bare: Measured | undefined, ours: Measured | undefined) {
  const value = median(bare?.rounds ?? []) / median(ours?.rounds ?? []);
  return { text, value, target: 0.65, wanted: "at least" } as const;
}

interface Ended extends Subject {
  readonly end: () => Promise<void>;
}

async function oursIn(folder: string, sync: boolean): Promise<Ended> {
  const store = await openSqliteStore({ file: join(folder, `ours-${sync}.db`) });
  const writers = await Promise.all(ids("ses").map((id) => writerOf(store, id)));
  return {
    name: sync ? "spanline, every append synced" : "spanline",
    run: () => appendTurns(store, writers, { turns: TURNS, sync }),
    end: () => store.close(),
  };
}

/** Sessions that have grown from nothing at the end of each run. */
async function growingIn(folder: string, times: number): Promise<Ended> {
  const store = await openSqliteStore({ file: join(folder, `growing-${times}.db`) });
  let runs = 0;
  return {
    name: "spanline",
    async run() {
      runs += 1;
      const writers = await Promise.all(ids(`run_${runs}`).map((id) => writerOf(store, id)));
      await appendTurns(store, writers, { turns: TURNS * times, sync: false });
      for (const { stop } of writers) stop();
    },
    end: () => store.close(),
  };
}

function ids(prefix: string): readonly string[] {
  return Array.from({ length: SESSIONS }, (_, index) => `${prefix}_${index}`);
}

interface Writer {
  readonly lease: Lease;
  seq: number;
  /** Resolves when the reader has seen all that was written. */
  seen(): Promise<void>;
  readonly stop: () => void;
}

async function writerOf(store: Store, sessionId: string): Promise<Writer> {
  const { lease } = await store.acquire(sessionId, { owner: "bench", now: 0, forMs: 1 });
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
    async seen() {
      while (read < writer.seq) await new Promise<void>((resolve) => (wake = resolve));
    },
    stop: () => controller.abort(),
  };
  return writer;
}

async function appendTurns(
  store: Store,
  writers: readonly Writer[],
  { turns, sync }: { readonly turns: number; readonly sync: boolean },
): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await Promise.all(
      writers.map(async (writer) => {
        await store.append(writer.lease, writer.seq, { events: draftsFrom(writer.seq), sync });
        writer.seq += EVENTS;
      }),
    );
  }
  await Promise.all(writers.map((writer) => writer.seen()));
}

async function bareIn(folder: string, sync: boolean): Promise<Ended> {
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
        for (const id of ids("ses")) {
          for (const [index, draft] of draftsFrom(seq).entries()) {
            insert.run(id, seq + index + 1, JSON.stringify(draft));
          }
        }
        commit?.run();
        seq += EVENTS;
      }
    },
    end: async () => database.close(),
  };
}

function draftsFrom(seq: number): readonly Draft[] {
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
