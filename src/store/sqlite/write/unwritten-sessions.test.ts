import { describe, expect, it } from "vitest";
import { delta, entry, NOW } from "../../../../test/contracts/store/store-subject.ts";
import { opened, tamper, temporaryFile } from "../../../../test/store/sqlite-support.ts";

const options = { owner: "me", now: NOW, durationMs: 1000 };

async function rowsIn(file: string): Promise<unknown[]> {
  let rows: readonly unknown[] = [];
  await tamper(file, (database) => {
    rows = database.prepare("SELECT id, seq, owner, epoch FROM sessions ORDER BY key").all();
  });
  return rows.map((row) => ({ ...Object(row) }));
}

describe("Sessions with a lease and no events", () => {
  it("A leased session is written to the file together with its first entry and its lease", async () => {
    const file = temporaryFile();
    const store = await opened({ file });
    const one = await store.acquire("ses_1", options);
    const two = await store.acquire("ses_2", options);
    expect(await rowsIn(file)).toEqual([]);
    expect(await store.readHead("ses_1")).toEqual(one.head);
    await store.append(two.lease, 0, entry([delta("a")]));
    expect(await rowsIn(file)).toEqual([
      { id: "ses_1", seq: 0, owner: "me", epoch: one.lease.epoch },
      { id: "ses_2", seq: 1, owner: "me", epoch: two.lease.epoch },
    ]);
    await store.append(one.lease, 0, entry([delta("b")]));
    expect((await store.findSession("ses_1"))?.incarnation).toBe(one.head.incarnation);
    expect((await store.acquire("ses_3", options)).lease.epoch).toBe(two.lease.epoch + 1);
  });

  it("A subscription to a session without events receives its first entry", async () => {
    const store = await opened({ file: temporaryFile() });
    const { lease } = await store.acquire("ses_1", options);
    const batches = store.subscribe("ses_1", undefined, new AbortController().signal);
    const first = batches[Symbol.asyncIterator]().next();
    await store.append(lease, 0, entry([delta("a")]));
    expect((await first).value?.events).toHaveLength(1);
  });

  it("A session without events belongs to its newest lease", async () => {
    const store = await opened({ file: temporaryFile() });
    const { lease } = await store.acquire("ses_1", options);
    await expect(store.acquire("ses_1", { ...options, owner: "you" })).rejects.toMatchObject({
      code: "lease_held",
    });
    const next = await store.acquire("ses_1", { ...options, owner: "you", takeOver: true });
    expect(next.lease.epoch).toBeGreaterThan(lease.epoch);
    await expect(store.append(lease, 0, entry([delta("a")]))).rejects.toMatchObject({
      code: "stale_lease",
    });
    await store.append(next.lease, 0, entry([delta("b")]));
  });

  it("After a rollback a leased session is written by the next transaction", async () => {
    const file = temporaryFile();
    const store = await opened({ file });
    const { lease } = await store.acquire("ses_1", options);
    await expect(store.putBlob("ses_2", "blob_1", new Uint8Array(1))).rejects.toMatchObject({
      code: "not_found",
    });
    expect(await rowsIn(file)).toEqual([]);
    await store.append(lease, 0, entry([delta("a")]));
    expect(await rowsIn(file)).toMatchObject([{ id: "ses_1", seq: 1 }]);
  });
});
