import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { migrate } from "../../src/store/sqlite/file/store-schema.ts";
import { Sql } from "../../src/store/sqlite/file/sql.ts";
import {
  delta,
  entry,
  finished,
  headOf,
  HOUR,
  NOW,
  readUntil,
  seqs,
  sessionOf,
} from "../contracts/store/store-subject.ts";
import { opened, tamper, temporaryFile } from "./sqlite-support.ts";

describe("Store file", () => {
  it("A file of a newer version is refused and stays unchanged", async () => {
    const file = temporaryFile();
    await (await opened({ file })).close();
    await tamper(file, (database) => database.exec("PRAGMA user_version = 99"));
    const before = readFileSync(file);
    for (const readOnly of [false, true]) {
      await expect(opened({ file, readOnly })).rejects.toMatchObject({
        code: "store_newer",
        message: expect.stringContaining(`${file} has schema version 99`),
        details: { file, version: 99 },
      });
    }
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("A file of another kind is refused", async () => {
    const text = temporaryFile();
    writeFileSync(text, "This is text, not a database. ".repeat(100));
    await expect(opened({ file: text })).rejects.toMatchObject({ code: "store_damaged" });
    const foreign = temporaryFile();
    await tamper(foreign, (database) => database.exec("CREATE TABLE cats (name TEXT)"));
    await expect(opened({ file: foreign })).rejects.toMatchObject({
      code: "store_failed",
      message: expect.stringContaining("is not a Spanline store"),
    });
    const missing = temporaryFile();
    await expect(opened({ file: missing, readOnly: true })).rejects.toMatchObject({
      code: "store_failed",
    });
  });

  it("A file of an older version is migrated completely or stays unchanged", async () => {
    const file = temporaryFile();
    const steps = ["CREATE TABLE one (a)", "CREATE TABLE two (b); INSERT INTO one VALUES (1)"];
    const schema = (...sql: readonly string[]) => ({ oldest: 7, steps: sql });
    await tamper(file, (database) => {
      const sql = new Sql(database, file);
      migrate(sql, file, schema(...steps.slice(0, 1)));
      expect(() => migrate(sql, file, schema(...steps, "invalid SQL"))).toThrow("syntax error");
      expect(sql.get("PRAGMA user_version")?.number("user_version")).toBe(7);
      expect(sql.all("SELECT a FROM one")).toEqual([]);
      migrate(sql, file, schema(...steps));
      expect(sql.get("PRAGMA user_version")?.number("user_version")).toBe(8);
      expect(sql.all("SELECT a FROM one")).toHaveLength(1);
      migrate(sql, file, schema(...steps));
      expect(sql.all("SELECT a FROM one")).toHaveLength(1);
      expect(() => migrate(sql, file, schema(...steps.slice(0, 1)))).toThrow(
        "supports versions up to 7",
      );
    });
  });

  it.each([1, 2, 3, 4])(
    "A file of the unreleased version %i is refused and stays unchanged",
    async (version) => {
      const file = temporaryFile();
      await (await opened({ file })).close();
      await tamper(file, (database) => database.exec(`PRAGMA user_version = ${version}`));
      const before = readFileSync(file);
      for (const readOnly of [false, true]) {
        await expect(opened({ file, readOnly })).rejects.toMatchObject({
          code: "store_failed",
          message: `${file} was written by an unreleased Spanline (version ${version}) and cannot be read. Fix: use another data directory, or move this one away`,
          details: { file, version },
        });
      }
      expect(readFileSync(file).equals(before)).toBe(true);
    },
  );

  it("An engine with full-text search rebuilds the search index of a file", async () => {
    const file = temporaryFile();
    const found = async (search: "full-text" | "plain", word: string) => {
      const store = await opened({ file, search });
      const lease = await sessionOf(store, `ses_${word}`, 0);
      await store.append(lease, 0, entry([finished(`they say ${word}`)]));
      const { sessions } = await store.listSessions({ limit: 9, search: "they" });
      await store.close();
      return sessions.length;
    };
    expect(await found("full-text", "one")).toBe(1);
    expect(await found("plain", "two")).toBe(2);
    expect(await found("full-text", "three")).toBe(3);
  });
});

describe("Damage", () => {
  const damages = [
    ["no JSON", "UPDATE events SET body = 'x' || body WHERE seq = 3"],
    ["no envelope", "UPDATE events SET body = '{}' WHERE seq = 3"],
    [
      "another event",
      `UPDATE events SET body = replace(body, 'text.delta', 'turn.ended') WHERE seq = 3`,
    ],
    ["an unlisted kind", "UPDATE events SET kind = 77 WHERE seq = 3"],
  ] as const;

  it.each(damages)(
    "Damage of a single event (%s) is reported with its position and does not affect other events",
    async (_, sql) => {
      const file = temporaryFile();
      const first = await opened({ file });
      await sessionOf(first, "ses_1", 5);
      await sessionOf(first, "ses_2", 5);
      await first.close();
      await tamper(file, (database) => database.exec(`${sql} AND session = 1`));
      const store = await opened({ file });
      const damage = { code: "store_damaged", details: { sessionId: "ses_1", seq: 3 } };
      expect(seqs(await store.read("ses_1", 0, 9))).toEqual([1, 2]);
      await expect(store.read("ses_1", 2, 9)).rejects.toMatchObject(damage);
      expect(seqs(await store.read("ses_1", 3, 9))).toEqual([4, 5]);
      expect(seqs(await store.read("ses_2", 0, 9))).toEqual([1, 2, 3, 4, 5]);
      await expect(readUntil(store, { sessionId: "ses_1", until: 5 })).rejects.toMatchObject(
        damage,
      );
      const problems = await store.checkIntegrity();
      expect(problems).toEqual([expect.stringMatching(/^Session ses_1: event 3 cannot be read: /)]);
    },
  );

  it("The integrity check finds missing events and a truncated file", async () => {
    const file = temporaryFile();
    const first = await opened({ file });
    const lease = await sessionOf(first, "ses_1", 2000);
    await first.append(lease, 2000, entry([delta("last")]));
    await first.close();
    await tamper(file, (database) =>
      database.exec("DELETE FROM events WHERE seq = 7; DELETE FROM events WHERE seq > 1990"),
    );
    const store = await opened({ file });
    expect(await store.checkIntegrity()).toEqual([
      "Session ses_1: event 7 is missing",
      "Session ses_1: events 1991 to 2001 are missing",
    ]);
    await store.close();
    truncateSync(file, 40_960);
    const cut = opened({ file }).then((store) => store.checkIntegrity());
    await expect(cut).rejects.toMatchObject({ code: "store_damaged" });
  });
});

describe("Many concurrent appends", () => {
  it("All concurrent appends succeed, although a transaction is limited in size", async () => {
    const store = await opened({ file: temporaryFile() });
    const lease = await sessionOf(store, "ses_1", 0);
    const text = "x".repeat(10_000);
    const appends = Array.from({ length: 2000 }, (_, seq) =>
      store.append(lease, seq, entry([delta(text)])),
    );
    await Promise.all(appends);
    expect(await headOf(store, "ses_1")).toMatchObject({ seq: 2000 });
  });
});

describe("Two writers of the same file", () => {
  it("Two stores that write to the same file are fenced, although each caches its log ends", async () => {
    const file = temporaryFile();
    const [mine, theirs] = [await opened({ file }), await opened({ file })];
    const lease = await sessionOf(mine, "ses_1", 2);
    const taking = { owner: "other", now: NOW, durationMs: HOUR, takeOver: true };
    const taken = await theirs.acquire("ses_1", taking);
    expect(taken).toMatchObject({ head: { seq: 2 }, wasAbandoned: true });
    await expect(mine.append(lease, 2, entry([delta("late")]))).rejects.toMatchObject({
      code: "stale_lease",
    });
    await theirs.append(taken.lease, 2, entry([delta("3")], { sync: true }));
    expect(seqs(await mine.read("ses_1", 0, 9))).toEqual([1, 2, 3]);
  });
});
