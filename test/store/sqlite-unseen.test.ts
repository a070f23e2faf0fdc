import { chmodSync, statSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { delta, draft, entry, NOW, sessionOf } from "../contracts/store/store-subject.ts";
import { opened, temporaryFile } from "./sqlite-support.ts";

/** A store whose syncs wait from `hold` to `release`. */
async function heldStore() {
  let letGo = (): void => {};
  let gate = Promise.resolve();
  const datasync = async (wal: FileHandle): Promise<void> => {
    await gate;
    await wal.datasync();
  };
  const store = await opened({ file: temporaryFile(), datasync });
  const hold = (): void => {
    gate = new Promise((resolve) => {
      letGo = resolve;
    });
  };
  const release = (): void => letGo();
  // A failed test must not wait for the disk.
  onTestFinished(release);
  return { store, hold, release };
}

const sync = { sync: true };
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("Unsynced entries", () => {
  it("The session list does not show an unsynced entry or any later entry", async () => {
    const { store, hold, release } = await heldStore();
    const lease = await sessionOf(store, "ses_1", 1);
    await store.append(lease, 1, entry([], { index: { title: "Before" } }));
    hold();
    const visibleAppend = store.append(lease, 1, entry([delta("a", { at: NOW + 1 })]));
    const index = { title: "After", state: "running" } as const;
    const titled = draft({ type: "session.title_changed", title: "After" }, NOW + 2);
    const pendingAppend = store.append(lease, 2, entry([titled], { index, wakeAt: 7, ...sync }));
    await visibleAppend;
    const behind = store.append(lease, 3, entry([delta("b", { at: NOW + 3 })]));
    await later();
    const before = { seq: 2, title: "Before", state: "idle", updatedAt: NOW + 1, wakeAt: null };
    const record = await store.findSession("ses_1");
    expect(record).toMatchObject(before);
    expect(await store.listSessions({ limit: 9 })).toEqual({ sessions: [record] });
    expect(await store.readHead("ses_1")).toMatchObject({ seq: 2 });
    release();
    await Promise.all([pendingAppend, behind]);
    const after = { seq: 4, title: "After", state: "running", updatedAt: NOW + 3, wakeAt: 7 };
    expect(await store.findSession("ses_1")).toMatchObject(after);
    expect((await store.listSessions({ limit: 9 })).sessions).toMatchObject([after]);
  });

  it("After the sync of the first of two entries only the first entry is visible", async () => {
    const { store, hold, release } = await heldStore();
    const lease = await sessionOf(store, "ses_1", 0);
    hold();
    const first = store.append(lease, 0, entry([delta("a")], { index: { title: "1" }, ...sync }));
    await later();
    expect(await store.findSession("ses_1")).toBeUndefined();
    expect(await store.listSessions({ limit: 9 })).toEqual({ sessions: [] });
    const second = store.append(lease, 1, entry([delta("b")], { index: { title: "2" }, ...sync }));
    await later();
    release();
    hold();
    await first;
    expect(await store.findSession("ses_1")).toMatchObject({ seq: 1, title: "1" });
    release();
    await second;
    expect(await store.findSession("ses_1")).toMatchObject({ seq: 2, title: "2" });
  });

  it("A process that takes a session over can read all events up to the returned head", async () => {
    const { store, hold, release } = await heldStore();
    const lease = await sessionOf(store, "ses_1", 1);
    hold();
    const pendingAppend = store.append(lease, 1, entry([delta("b")], sync));
    await later();
    const takeOver = { owner: "other", now: NOW, durationMs: 1, takeOver: true };
    const taken = store.acquire("ses_1", takeOver).then(async ({ head }) => {
      const events = await store.read("ses_1", 0, 9);
      return { head: head.seq, read: events.map(({ seq }) => seq) };
    });
    await later();
    release();
    expect(await taken).toEqual({ head: 2, read: [1, 2] });
    await pendingAppend;
  });

  it("Unsynced entries do not change the pages of the session list", async () => {
    const { store, hold, release } = await heldStore();
    for (const [index, id] of ["ses_1", "ses_2", "ses_3"].entries()) {
      const lease = await sessionOf(store, id, 0);
      await store.append(lease, 0, entry([delta("a", { at: NOW + index })]));
    }
    const { lease } = await store.acquire("ses_1", { owner: "me", now: NOW, durationMs: 1 });
    hold();
    const pendingAppend = store.append(lease, 1, entry([delta("b", { at: NOW + 9 })], sync));
    await later();
    const first = await store.listSessions({ limit: 1 });
    const rest = await store.listSessions({ limit: 9, page: first.nextPage ?? "" });
    const ids = [...first.sessions, ...rest.sessions].map(({ sessionId }) => sessionId);
    expect(ids).toEqual(["ses_1", "ses_3", "ses_2"]);
    release();
    await pendingAppend;
  });
});

describe.skipIf(process.platform === "win32")("Permissions of store files", () => {
  it("Store files are accessible only to their user, even if they were readable by others before", async () => {
    const file = temporaryFile();
    const modes = (): string[] =>
      ["", "-wal", "-shm"].map((end) => (statSync(`${file}${end}`).mode & 0o777).toString(8));
    const store = await opened({ file });
    expect(modes()).toEqual(["600", "600", "600"]);
    await store.close();
    chmodSync(file, 0o644);
    await opened({ file });
    expect(modes()).toEqual(["600", "600", "600"]);
  });
});
