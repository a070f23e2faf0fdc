import { describe, expect, it } from "vitest";
import { MAX_RECORD_BYTES, MAX_RECORD_NAME_LENGTH } from "../../../src/store/record-store.ts";
import type { RecordStore } from "../../../src/store/record-store.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import type { StoreSubject } from "./store-subject.ts";

async function put(store: RecordStore, key: string, value = 1): Promise<number> {
  const outcome = await store.putRecord("budget", key, { value });
  if (outcome.status !== "stored") throw new Error(`${key} was not stored`);
  return outcome.version;
}

async function listKeys(store: RecordStore, limit: number): Promise<readonly string[][]> {
  const pages: string[][] = [];
  let afterKey: string | undefined = "";
  while (afterKey !== undefined) {
    const { records, nextKey } = await store.listRecords({ scope: "budget", afterKey, limit });
    pages.push(records.map(({ key }) => key));
    afterKey = nextKey;
  }
  return pages;
}

/** `RecordStore`: state that belongs to no session. */
export function storeRecords({ open, reopen }: StoreSubject): void {
  describe("records", () => {
    it("A record is read back as it was written, by scope and key [W-33]", async () => {
      const store = await open();
      const value = { tokens: 7, notes: ["é", "\0", null], nested: { deep: [true, -0.5] } };
      const outcome = await store.putRecord("budget", "ada/2026-11-18", { value });
      expect(outcome).toEqual({ status: "stored", version: expect.any(Number) });
      expect(await store.readRecord("budget", "ada/2026-11-18")).toEqual({
        scope: "budget",
        key: "ada/2026-11-18",
        value,
        version: outcome.status === "stored" ? outcome.version : undefined,
        expiresAt: null,
      });
      expect(await store.readRecord("budget", "ada")).toBeUndefined();
      expect(await store.readRecord("push", "ada/2026-11-18")).toBeUndefined();
    });

    it("A stored value does not change with the object that it was written from or read into", async () => {
      const store = await open();
      const value = { list: [1] };
      await store.putRecord("budget", "ada", { value });
      value.list.push(2);
      const first = await store.readRecord("budget", "ada");
      if (first !== undefined) Object.assign(first.value ?? {}, { list: [3] });
      expect(await store.readRecord("budget", "ada")).toMatchObject({ value: { list: [1] } });
    });

    it("Each write gives a record a greater version, also after a deletion", async () => {
      const store = await open();
      const versions = [await put(store, "ada"), await put(store, "bob"), await put(store, "ada")];
      await store.deleteRecord("budget", "ada");
      await store.deleteRecord("budget", "bob");
      versions.push(await put(store, "ada"));
      expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
      expect(versions).toHaveLength(4);
    });

    it("A write with an expected version replaces only that version [W-37]", async () => {
      const store = await open();
      const write = (value: number, expectedVersion: number | null) =>
        store.putRecord("budget", "ada", { value, expectedVersion });
      expect(await write(1, 1)).toEqual({ status: "conflict", current: undefined });
      const first = await write(1, null);
      const { version } = (await store.readRecord("budget", "ada")) ?? { version: -1 };
      expect(first).toEqual({ status: "stored", version });
      const current = await store.readRecord("budget", "ada");
      expect(await write(2, null)).toEqual({ status: "conflict", current });
      expect(await write(2, version + 1)).toEqual({ status: "conflict", current });
      expect(await write(2, version)).toMatchObject({ status: "stored" });
      expect(await write(3, version)).toMatchObject({ status: "conflict", current: { value: 2 } });
      expect(await store.readRecord("budget", "ada")).toMatchObject({ value: 2 });
    });

    it("Of concurrent writes with the same expected version exactly one is stored [W-37]", async () => {
      const store = await open();
      for (const expectedVersion of [null, await put(store, "bob")]) {
        const key = expectedVersion === null ? "ada" : "bob";
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, value) =>
            store.putRecord("budget", key, { value, expectedVersion }),
          ),
        );
        const winners = outcomes.filter(({ status }) => status === "stored");
        const current = await store.readRecord("budget", key);
        expect(winners).toEqual([{ status: "stored", version: current?.version }]);
        const losers = outcomes.filter(({ status }) => status === "conflict");
        expect(losers).toEqual(Array.from({ length: 19 }, () => ({ status: "conflict", current })));
      }
    });

    it("Callers that retry after a conflict lose no update", async () => {
      const store = await open();
      const increment = async (): Promise<void> => {
        for (;;) {
          const record = await store.readRecord("budget", "ada");
          const outcome = await store.putRecord("budget", "ada", {
            value: Number(record?.value ?? 0) + 1,
            expectedVersion: record?.version ?? null,
          });
          if (outcome.status === "stored") return;
        }
      };
      await Promise.all(Array.from({ length: 8 }, increment));
      expect(await store.readRecord("budget", "ada")).toMatchObject({ value: 8 });
    });

    it("A record ceases to exist at its expiry by the clock of the store", async () => {
      const clock = createFakeClock(1000);
      const store = await open({ clock });
      await store.putRecord("budget", "ada", { value: 1, expiresAt: 2000 });
      await put(store, "bob");
      clock.advance(999);
      expect(await store.readRecord("budget", "ada")).toMatchObject({ value: 1, expiresAt: 2000 });
      expect(await listKeys(store, 9)).toEqual([["ada", "bob"]]);
      clock.advance(1);
      expect(await store.readRecord("budget", "ada")).toBeUndefined();
      expect(await listKeys(store, 9)).toEqual([["bob"]]);
      expect(await store.deleteRecord("budget", "ada")).toBe(false);
      const outcome = await store.putRecord("budget", "ada", { value: 2, expectedVersion: null });
      expect(outcome).toMatchObject({ status: "stored" });
      expect(await store.readRecord("budget", "ada")).toMatchObject({ value: 2, expiresAt: null });
    });

    it("A conflict with an expired record reports no current record", async () => {
      const clock = createFakeClock(1000);
      const store = await open({ clock });
      await store.putRecord("budget", "ada", { value: 1, expiresAt: 2000 });
      const version = (await store.readRecord("budget", "ada"))?.version ?? -1;
      clock.advance(1000);
      const write = { value: 2, expectedVersion: version };
      const conflict = { status: "conflict", current: undefined };
      expect(await store.putRecord("budget", "ada", write)).toEqual(conflict);
    });

    it("A deletion removes a record, or only its expected version", async () => {
      const store = await open();
      const version = await put(store, "ada");
      expect(await store.deleteRecord("budget", "ada", version + 1)).toBe(false);
      expect(await store.readRecord("budget", "ada")).toMatchObject({ version });
      expect(await store.deleteRecord("budget", "ada", version)).toBe(true);
      expect(await store.deleteRecord("budget", "ada", version)).toBe(false);
      expect(await store.readRecord("budget", "ada")).toBeUndefined();
      await put(store, "ada");
      expect(await store.deleteRecord("push", "ada")).toBe(false);
      expect(await store.deleteRecord("budget", "ada")).toBe(true);
    });

    it("A scope is listed in pages by key in the order of UTF-8 bytes", async () => {
      const store = await open();
      // U+FF5E sorts before U+1F600 as UTF-8 and after it as UTF-16.
      const keys = ["B", "a", "a/b", "b", "é", "～", "😀"];
      for (const key of keys.toReversed()) await put(store, key);
      await store.putRecord("budgets", "a", { value: 0 });
      await store.putRecord("Budget", "a", { value: 0 });
      expect(await listKeys(store, 100)).toEqual([keys]);
      expect(await listKeys(store, 3)).toEqual([keys.slice(0, 3), keys.slice(3, 6), keys.slice(6)]);
      expect(await listKeys(store, 7)).toEqual([keys]);
      expect(await store.listRecords({ scope: "none", limit: 3 })).toEqual({ records: [] });
      const page = await store.listRecords({ scope: "budget", limit: 1 });
      expect(page).toEqual({
        records: [await store.readRecord("budget", "B")],
        nextKey: "B",
      });
    });

    it.each([0, -1, 1.5, Number.NaN])("A list with the limit %d is refused", async (limit) => {
      const store = await open();
      await expect(store.listRecords({ scope: "budget", limit })).rejects.toMatchObject({
        code: "invalid_option",
        details: { path: "limit" },
      });
    });

    it("A value at the size limit is stored, and a larger one is refused", async () => {
      const store = await open();
      const largest = "é".repeat((MAX_RECORD_BYTES - 2) / 2);
      await store.putRecord("budget", "ada", { value: largest });
      const tooLarge = store.putRecord("budget", "ada", { value: `${largest}x` });
      await expect(tooLarge).rejects.toMatchObject({
        code: "invalid_option",
        details: { path: "value" },
      });
      expect(await store.readRecord("budget", "ada")).toMatchObject({ value: largest });
    });

    it.each([
      ["an empty name", ""],
      ["a name that is too long", "x".repeat(MAX_RECORD_NAME_LENGTH + 1)],
      ["a name with a NUL", "a\0b"],
      ["a name with an unpaired surrogate", "a\uD800"],
    ])("A write with %s is refused", async (_, name) => {
      const store = await open();
      const refusal = (path: string) => ({ code: "invalid_option", details: { path } });
      const asKey = store.putRecord("budget", name, { value: 1 });
      await expect(asKey).rejects.toMatchObject(refusal("key"));
      const asScope = store.putRecord(name, "ada", { value: 1 });
      await expect(asScope).rejects.toMatchObject(refusal("scope"));
      await store.putRecord("x".repeat(MAX_RECORD_NAME_LENGTH), "x", { value: 1 });
    });

    it("A write with an expiry that is not a time is refused", async () => {
      const store = await open();
      const write = store.putRecord("budget", "ada", { value: 1, expiresAt: Number.NaN });
      await expect(write).rejects.toMatchObject({
        code: "invalid_option",
        details: { path: "expiresAt" },
      });
    });

    it("Records are independent of sessions and of their retention", async () => {
      const store = await open();
      await put(store, "ses_1");
      expect(await store.measureSize()).toEqual({ sessions: 0, events: 0 });
      expect(await store.deleteSession("ses_1")).toBe(false);
      await store.applyRetention({ now: 9e12, inactiveSince: 9e12, maxBytes: 0 });
      expect(await store.readRecord("budget", "ses_1")).toMatchObject({ value: 1 });
      expect(await store.checkIntegrity()).toEqual([]);
    });

    it("A closed store refuses every operation on records", async () => {
      const store = await open();
      await store.close();
      const closed = { code: "store_closed" };
      await expect(store.readRecord("budget", "ada")).rejects.toMatchObject(closed);
      await expect(put(store, "ada")).rejects.toMatchObject(closed);
      await expect(store.deleteRecord("budget", "ada")).rejects.toMatchObject(closed);
      await expect(listKeys(store, 1)).rejects.toMatchObject(closed);
    });

    it.skipIf(reopen === undefined)(
      "Records, their versions and their expiry survive a restart [W-37]",
      async () => {
        const clock = createFakeClock(1000);
        const first = await open({ clock });
        await first.putRecord("budget", "ada", { value: 1, expiresAt: 2000 });
        const version = await put(first, "bob");
        await first.deleteRecord("budget", "bob");
        const ada = await first.readRecord("budget", "ada");
        const store = (await reopen?.(first)) ?? first;
        expect(await store.readRecord("budget", "ada")).toEqual(ada);
        expect(await store.readRecord("budget", "bob")).toBeUndefined();
        expect(await put(store, "bob")).toBeGreaterThan(version);
        clock.advance(1000);
        expect(await store.readRecord("budget", "ada")).toBeUndefined();
      },
    );
  });
}
