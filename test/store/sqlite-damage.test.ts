import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { toStoreError } from "../../src/store/sqlite/file/database-error.ts";
import type { InspectedEvent } from "../../src/store/log-store.ts";
import type { Store } from "../../src/store/store.ts";
import {
  acquire,
  delta,
  entry,
  finished,
  HOUR,
  NOW,
  readUntil,
  seqs,
  sessionOf,
} from "../contracts/store/store-subject.ts";
import { opened, tamper, temporaryFile } from "./sqlite-support.ts";

/** A closed file with a session of 9 events, changed by some SQL. */
async function damagedBy(sql: string): Promise<string> {
  const file = temporaryFile();
  const store = await opened({ file });
  await sessionOf(store, "ses_1", 9);
  await store.close();
  await tamper(file, (database) => database.exec(sql));
  return file;
}

describe("A missing event row", () => {
  const damage = { code: "store_damaged", details: { sessionId: "ses_1", seq: 4 } };

  it("Every read refuses a missing event at its position", async () => {
    const file = await damagedBy("DELETE FROM events WHERE seq IN (4, 5)");
    const store = await opened({ file });
    expect(seqs(await store.read("ses_1", 0, 9))).toEqual([1, 2, 3]);
    await expect(store.read("ses_1", 3, 9)).rejects.toMatchObject({
      ...damage,
      message: `Events 4 to 5 of session ses_1 are missing in ${file}`,
    });
    expect(seqs(await store.readPage("ses_1", 0))).toEqual([1, 2, 3]);
    await expect(store.readPage("ses_1", 3)).rejects.toMatchObject(damage);
    await expect(readUntil(store, { sessionId: "ses_1", until: 9 })).rejects.toMatchObject(damage);
    expect(seqs(await store.read("ses_1", 5, 9))).toEqual([6, 7, 8, 9]);
  });

  it("A missing event at the end of the log is refused and does not leave a reader waiting", async () => {
    const file = await damagedBy("DELETE FROM events WHERE seq > 7");
    const store = await opened({ file });
    const tail = { code: "store_damaged", details: { sessionId: "ses_1", seq: 8 } };
    expect(seqs(await store.read("ses_1", 0, 9))).toEqual([1, 2, 3, 4, 5, 6, 7]);
    await expect(store.read("ses_1", 7, 9)).rejects.toMatchObject(tail);
    await expect(store.readPage("ses_1", 7)).rejects.toMatchObject(tail);
    await expect(readUntil(store, { sessionId: "ses_1", until: 9 })).rejects.toMatchObject(tail);
  });

  it("A session with a missing event cannot be leased, and the error has the reason", async () => {
    const file = await damagedBy("DELETE FROM events WHERE seq = 4");
    const store = await opened({ file });
    await expect(acquire(store, "ses_1")).rejects.toMatchObject({
      code: "store_damaged",
      message: expect.stringContaining(
        `Session ses_1 in ${file} is read-only: its log has 8 events and should have 9`,
      ),
    });
    expect(await store.findSession("ses_1")).toMatchObject({ seq: 9 });
    expect(await sessionOf(store, "ses_2", 1)).toMatchObject({ sessionId: "ses_2" });
  });

  it("A missing event is distinguished from events dropped by retention", async () => {
    const file = temporaryFile();
    const store = await opened({ file });
    const lease = await sessionOf(store, "ses_1", 0);
    const texts = [delta("a"), delta("b"), finished("ab"), delta("c"), finished("c")];
    await store.append(lease, 0, entry([...texts, finished("end")]));
    await store.release(lease);
    const { bytes } = await store.applyRetention({ now: NOW + HOUR });
    const retained = await store.applyRetention({ now: NOW + HOUR, maxBytes: bytes - 1 });
    expect(retained).toMatchObject({ droppedEvents: 3, deletedSessions: 0 });
    expect(await statuses(store)).toEqual(["readable 3", "readable 5", "readable 6"]);
    expect(await store.checkIntegrity()).toEqual([]);
    await expect(acquire(store, "ses_1")).resolves.toMatchObject({ head: { seq: 6 } });
    await store.close();
    await tamper(file, (database) => database.exec("DELETE FROM events WHERE seq = 3"));
    const again = await opened({ file });
    expect(await statuses(again)).toEqual(["missing 1", "readable 5", "readable 6"]);
    expect(await again.checkIntegrity()).toEqual([
      "Session ses_1: 1 of the events 1 to 4 is missing",
    ]);
    await expect(acquire(again, "ses_1")).rejects.toMatchObject({ code: "store_damaged" });
  });
});

async function statuses(store: Store): Promise<readonly string[]> {
  return (await store.inspect("ses_1", 0, 100)).map(({ status, seq }) => `${status} ${seq}`);
}

describe("Log inspection", () => {
  const broken = `DELETE FROM events WHERE seq IN (2, 3, 9);
    UPDATE events SET body = 'x' || body WHERE seq = 5;
    INSERT INTO kinds (type, version) VALUES ('weather.changed', 1);
    UPDATE events SET kind = (SELECT id FROM kinds WHERE type = 'weather.changed'),
      body = replace(body, 'text.delta', 'weather.changed') WHERE seq = 7`;

  it("Inspection reports every position, readable or not, and continues after damage", async () => {
    const store = await opened({ file: await damagedBy(broken) });
    const examined = await store.inspect("ses_1", 0, 100);
    expect(examined.map(({ status, seq }) => `${status} ${seq}`)).toEqual([
      "readable 1",
      "missing 2",
      "readable 4",
      "damaged 5",
      "readable 6",
      "newer 7",
      "readable 8",
      "missing 9",
    ]);
    const at = (seq: number): InspectedEvent | undefined => examined.find((one) => one.seq === seq);
    expect(at(2)).toEqual({ status: "missing", seq: 2, through: 3, count: 2 });
    expect(at(5)).toMatchObject({ type: "text.delta", raw: expect.stringMatching(/^x\{/) });
    expect(at(7)).toMatchObject({
      type: "weather.changed",
      version: 1,
      envelope: { seq: 7, event: { type: "provider.unknown", name: "weather.changed" } },
    });
    expect(await store.checkIntegrity()).toHaveLength(4);
  });

  it("Inspection in pages of any size returns the same log", async () => {
    const store = await opened({ file: await damagedBy(broken) });
    const whole = await store.inspect("ses_1", 0, 100);
    for (const size of [1, 2, 3]) {
      const pages: InspectedEvent[] = [];
      for (let after = 0; after < 9;) {
        const page = await store.inspect("ses_1", after, size);
        const last = page.at(-1);
        if (last === undefined) break;
        pages.push(...page);
        after = last.status === "missing" ? last.through : last.seq;
      }
      expect(pages).toEqual(whole);
    }
  });
});

describe("Empty database file", () => {
  it("An empty file is refused for reading and for writing, and stays unchanged", async () => {
    const file = temporaryFile();
    writeFileSync(file, "");
    for (const readOnly of [false, true]) {
      await expect(opened({ file, readOnly })).rejects.toMatchObject({
        code: "store_damaged",
        message: expect.stringContaining(`${file} is empty (0 bytes)`),
      });
    }
    expect(statSync(file).size).toBe(0);
  });

  it("A process killed while creating a file never leaves an empty file", async () => {
    const file = temporaryFile();
    // A killed process leaves the temporary file, in any state.
    writeFileSync(`${file}.new`, "half a database");
    const store = await opened({ file });
    await sessionOf(store, "ses_1", 1);
    expect(readdirSync(dirname(file)).filter((name) => name.includes(".new"))).toEqual([]);
  });

  it("A missing file is refused and not created if create is false", async () => {
    const file = temporaryFile();
    await expect(opened({ file, create: false })).rejects.toMatchObject({
      code: "store_failed",
      message: expect.stringContaining(file),
    });
    expect(existsSync(file)).toBe(false);
  });
});

describe("SQLite errors", () => {
  const engineError = (errcode: number) =>
    Object.assign(new Error("database or disk is full"), { errcode });

  it.each([
    [13, "store_full", "/data/s.db cannot be written: the disk is full. Fix: free some space"],
    [778, "store_failed", "/data/s.db cannot be written: the system refused the write."],
    [522, "store_failed", "/data/s.db cannot be read or written: the disk reported an I/O error"],
    [14, "store_failed", "/data/s.db cannot be opened."],
    [8, "store_failed", "/data/s.db cannot be written: it is read-only"],
    [1032, "store_failed", "/data/s.db was removed or replaced while it was in use"],
    [5, "store_failed", "/data/s.db is locked by another process"],
    [11, "store_damaged", "/data/s.db is damaged: it is not a readable SQLite database."],
    [26, "store_damaged", "/data/s.db is damaged: it is not a readable SQLite database."],
  ])(
    "A SQLite error with code %i becomes %s with the path of the file",
    (errcode, code, message) => {
      const cause = engineError(errcode);
      expect(toStoreError(cause, "/data/s.db")).toMatchObject({
        code,
        message: expect.stringContaining(message),
        details: { file: "/data/s.db", sqlite: errcode },
        cause,
      });
    },
  );

  it("An unknown SQLite error has the path and the text of SQLite in its message", () => {
    expect(toStoreError(engineError(1), "/data/s.db")).toMatchObject({
      code: "store_failed",
      message: "/data/s.db cannot be read or written (SQLite error 1: database or disk is full)",
    });
  });
});
