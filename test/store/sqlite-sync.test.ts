import { execFileSync } from "node:child_process";
import { rmSync, statSync, writeFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  acquire,
  delta,
  entry,
  headOf,
  readUntil,
  seqs,
  sessionOf,
} from "../contracts/store/store-subject.ts";
import { opened, temporaryFile, temporaryFolder } from "./sqlite-support.ts";

/** A disk whose next `times` syncs wait until the test calls `next`. */
function slowDisk() {
  const waiting: (() => void)[] = [];
  const pendingSyncs: (() => void)[] = [];
  let slow = 0;
  let syncs = 0;
  return {
    datasync: (wal: FileHandle): Promise<void> => {
      syncs += 1;
      pendingSyncs.shift()?.();
      if (slow === 0) return wal.datasync();
      slow -= 1;
      return new Promise((resolve) => {
        waiting.push(resolve);
      });
    },
    slow: (times = 1) => (slow = times),
    next: () => waiting.shift()?.(),
    /** Resolves at the next sync. */
    asked: () => new Promise<void>((resolve) => pendingSyncs.push(resolve)),
    get syncs() {
      return syncs;
    },
  };
}

const sync = { sync: true };

describe("Append with sync", () => {
  it("All waiting appends share one sync, and appends made meanwhile share the next", async () => {
    const disk = slowDisk();
    const store = await opened({ file: temporaryFile(), datasync: disk.datasync });
    const leases = await Promise.all(
      Array.from({ length: 20 }, (_, index) => sessionOf(store, `ses_${index}`, 0)),
    );
    disk.slow(2);
    const before = disk.syncs;
    const syncRequest = disk.asked();
    const first = leases.map((lease) => store.append(lease, 0, entry([delta("a")], sync)));
    await syncRequest;
    const second = leases.map((lease) => store.append(lease, 1, entry([delta("b")], sync)));
    const third = store.append(leases[0] ?? (await acquire(store, "x")).lease, 2, entry([], sync));
    const again = disk.asked();
    disk.next();
    await Promise.all(first);
    await again;
    disk.next();
    await Promise.all([...second, third]);
    expect(disk.syncs - before).toBe(2);
  });

  it("An append is invisible until it is synced, and so are later appends of its session", async () => {
    const disk = slowDisk();
    const store = await opened({ file: temporaryFile(), datasync: disk.datasync });
    const lease = await sessionOf(store, "ses_1", 1);
    const other = await sessionOf(store, "ses_2", 0);
    disk.slow();
    const syncRequest = disk.asked();
    const reading = readUntil(store, { sessionId: "ses_1", until: 3 });
    const synced = store.append(lease, 1, entry([delta("2")], sync));
    const after = store.append(lease, 2, entry([delta("3")]));
    await store.append(other, 0, entry([delta("not held up")]));
    await syncRequest;
    expect(await headOf(store, "ses_1")).toMatchObject({ seq: 1 });
    expect(seqs(await store.read("ses_1", 0, 9))).toEqual([1]);
    const early = readUntil(store, { sessionId: "ses_1", until: 1 });
    expect(seqs(await early)).toEqual([1]);
    disk.next();
    await Promise.all([synced, after]);
    expect(seqs(await reading)).toEqual([1, 2, 3]);
    expect(seqs(await store.read("ses_1", 0, 9))).toEqual([1, 2, 3]);
  });

  it("A repeated command is answered only after its first append is synced", async () => {
    const disk = slowDisk();
    const store = await opened({ file: temporaryFile(), datasync: disk.datasync });
    const lease = await sessionOf(store, "ses_1", 0);
    disk.slow();
    const order: string[] = [];
    const command = { id: "cmd_1", reply: 1 };
    const syncRequest = disk.asked();
    const first = store.append(lease, 0, entry([delta("a")], { command, sync: true }));
    const again = store.append(lease, 0, entry([], { command }));
    void first.then(() => order.push("first"));
    void again.then(() => order.push("again"));
    await syncRequest;
    expect(order).toEqual([]);
    disk.next();
    expect(await again).toEqual({ status: "repeated", reply: 1 });
    expect(order).toEqual(["first", "again"]);
  });

  it("An unsynced append does not appear in a session created again under the same id", async () => {
    const disk = slowDisk();
    const store = await opened({ file: temporaryFile(), datasync: disk.datasync });
    const lease = await sessionOf(store, "ses_1", 0);
    disk.slow();
    const syncRequest = disk.asked();
    const lost = store.append(lease, 0, entry([delta("old")], sync));
    await syncRequest;
    await store.deleteSession("ses_1");
    const { lease: next } = await acquire(store, "ses_1");
    const reading = readUntil(store, { sessionId: "ses_1", until: 1 });
    disk.next();
    await lost;
    await store.append(next, 0, entry([delta("new")]));
    expect(await reading).toMatchObject([{ seq: 1, event: { text: "new" } }]);
  });

  it("After a failed sync the append and every later append are refused", async () => {
    let isBroken = false;
    const datasync = async (): Promise<void> => {
      if (isBroken) throw new Error("EIO: i/o error");
    };
    const store = await opened({ file: temporaryFile(), datasync });
    const lease = await sessionOf(store, "ses_1", 1);
    isBroken = true;
    const failure = { code: "store_failed", message: expect.stringContaining("EIO") };
    await expect(store.append(lease, 1, entry([delta("2")], sync))).rejects.toMatchObject(failure);
    isBroken = false;
    await expect(store.append(lease, 1, entry([delta("2")]))).rejects.toMatchObject(failure);
    expect(await store.read("ses_1", 0, 9)).toHaveLength(1);
  });
});

describe("Synced file", () => {
  it("The synced file is the file written by SQLite, even after checkpoints", async () => {
    const file = temporaryFile();
    const inodes = new Set<number>();
    const datasync = async (wal: FileHandle): Promise<void> => {
      inodes.add((await wal.stat()).ino);
      await wal.datasync();
    };
    const store = await opened({ file, datasync });
    const lease = await sessionOf(store, "ses_1", 0);
    const text = "x".repeat(100_000);
    // Each event is 25 pages; SQLite restarts its log after every 4,000 pages.
    for (let seq = 0; seq < 400; seq++) {
      await store.append(lease, seq, entry([delta(text)], { sync: seq % 10 === 0 }));
    }
    expect([...inodes]).toEqual([statSync(`${file}-wal`).ino]);
    expect(statSync(`${file}-wal`).size).toBeLessThan(200 * 100_000);
    expect(await store.checkIntegrity()).toEqual([]);
  });

  it("A power failure loses no acknowledged append", async () => {
    const file = temporaryFile();
    let onDisk: Uint8Array = new Uint8Array(0);
    const datasync = async (wal: FileHandle): Promise<void> => {
      const { size } = await wal.stat();
      const bytes = Buffer.alloc(size);
      await wal.read(bytes, 0, size, 0);
      onDisk = bytes;
    };
    const store = await opened({ file, datasync });
    const lease = await sessionOf(store, "ses_1", 2);
    await store.append(lease, 2, entry([delta("3")], sync));
    await store.append(lease, 3, entry([delta("4")]));
    const copy = join(temporaryFolder(), "store.db");
    // A separate process copies the file: closing the file in this process would drop SQLite's locks.
    execFileSync("cp", [file, copy]);
    writeFileSync(`${copy}-wal`, onDisk);
    const restored = await opened({ file: copy });
    expect(await restored.checkIntegrity()).toEqual([]);
    expect(seqs(await restored.read("ses_1", 0, 9))).toEqual([1, 2, 3]);
  });

  it("A removed write-ahead log is detected at the next sync", async () => {
    const file = temporaryFile();
    const store = await opened({ file });
    const lease = await sessionOf(store, "ses_1", 0);
    rmSync(`${file}-wal`);
    await expect(store.append(lease, 0, entry([delta("1")], sync))).rejects.toMatchObject({
      code: "store_damaged",
      message: expect.stringContaining("was removed while it was in use"),
    });
  });
});

describe("Records and syncs", () => {
  it("A record is acknowledged, read and listed only after it is synced", async () => {
    const disk = slowDisk();
    const store = await opened({ file: temporaryFile(), datasync: disk.datasync });
    disk.slow();
    // If the test fails early, the disk must be released: otherwise the store cannot be closed.
    onTestFinished(() => {
      disk.slow(0);
      disk.next();
    });
    const syncRequest = disk.asked();
    const order: string[] = [];
    const note = (what: string) => () => void order.push(what);
    const write = { value: 1, expectedVersion: null };
    const results = [
      store.putRecord("budget", "ada", write).then(note("stored")),
      store.putRecord("budget", "ada", write).then(note("conflict")),
      store.readRecord("budget", "ada").then(note("read")),
      store.listRecords({ scope: "budget", limit: 1 }).then(note("listed")),
    ];
    await Promise.race([syncRequest, Promise.all(results)]);
    await store.findSession("ses_1");
    expect(order).toEqual([]);
    disk.next();
    await Promise.all(results);
    expect(order).toEqual(["stored", "conflict", "read", "listed"]);
    const before = disk.syncs;
    await store.readRecord("budget", "ada");
    expect(disk.syncs).toBe(before);
  });

  it("A deletion is acknowledged only after it is synced", async () => {
    const disk = slowDisk();
    const store = await opened({ file: temporaryFile(), datasync: disk.datasync });
    await store.putRecord("budget", "ada", { value: 1 });
    disk.slow();
    // If the test fails early, the disk must be released: otherwise the store cannot be closed.
    onTestFinished(() => {
      disk.slow(0);
      disk.next();
    });
    const syncRequest = disk.asked();
    let isDeleted = false;
    const deletion = store.deleteRecord("budget", "ada").then(() => (isDeleted = true));
    await Promise.race([syncRequest, deletion]);
    await store.findSession("ses_1");
    expect(isDeleted).toBe(false);
    disk.next();
    await deletion;
  });

  it("A record that cannot be synced is refused with the reason", async () => {
    const datasync = { fails: false };
    const store = await opened({
      file: temporaryFile(),
      datasync: (wal) => (datasync.fails ? Promise.reject(new Error("no power")) : wal.datasync()),
    });
    datasync.fails = true;
    const failure = { code: "store_failed", message: expect.stringContaining("no power") };
    const write = store.putRecord("budget", "ada", { value: 1 });
    await expect(write).rejects.toMatchObject(failure);
    await expect(store.readRecord("budget", "ada")).rejects.toMatchObject(failure);
  });
});
