import { describe, expect, it } from "vitest";
import type { SessionChanges } from "../../../src/store/session-index.ts";
import type { Store } from "../../../src/store/store.ts";
import { withDeadline } from "../../support/with-deadline.ts";
import { acquire, delta, entry, NOW, sessionOf, type StoreSubject } from "./store-subject.ts";

export function storeWatching({ open }: StoreSubject): void {
  describe("Watching the list of sessions", () => {
    it("The first item is a reset, and later items have each changed session once, in its newest state", async () => {
      const store = await open();
      await sessionOf(store, "old", 1);
      const watcher = watch(store);
      expect(await watcher.next()).toEqual({ reset: true, changed: [], removed: [] });
      const lease = await sessionOf(store, "ses_1", 1);
      const index = { title: "Tea", state: "waiting" } as const;
      await store.append(lease, 1, entry([delta("2")], { index, sync: true }));
      await sessionOf(store, "ses_2", 3);
      const changes = await watcher.next();
      expect(changes).toMatchObject({ reset: false, removed: [] });
      expect(changes.changed).toEqual([
        await store.findSession("ses_1"),
        await store.findSession("ses_2"),
      ]);
      expect(changes.changed).toMatchObject([{ ...index, seq: 2 }, { seq: 3 }]);
    });

    it("A change is delivered to a waiting watcher, and a deleted session is reported by its id", async () => {
      const store = await open();
      await sessionOf(store, "ses_1", 1);
      const watcher = watch(store);
      await watcher.next();
      const next = watcher.next();
      await store.deleteSession("ses_1");
      expect(await next).toEqual({ reset: false, changed: [], removed: ["ses_1"] });
      await sessionOf(store, "ses_2", 1);
      await store.deleteSession("ses_2");
      await sessionOf(store, "ses_1", 2);
      const { changed, removed } = await watcher.next();
      expect([changed.map(({ sessionId, seq }) => [sessionId, seq]), removed]).toEqual([
        [["ses_1", 2]],
        ["ses_2"],
      ]);
    });

    it("A session without events is not reported as changed", async () => {
      const store = await open();
      const watcher = watch(store);
      await watcher.next();
      const { lease } = await acquire(store, "empty");
      await sessionOf(store, "ses_1", 1);
      await store.append(lease, 0, entry([], { wakeAt: NOW }));
      expect((await watcher.next()).changed).toMatchObject([{ sessionId: "ses_1" }]);
    });

    it("A watcher that falls behind by many sessions gets a reset in place of its changes", async () => {
      const store = await open();
      const watcher = watch(store);
      await watcher.next();
      const first = watcher.next();
      await sessionOf(store, "first", 1);
      await first;
      for (let at = 0; at <= 1000; at++) await sessionOf(store, `ses_${at}`, 1);
      expect(await watcher.next()).toEqual({ reset: true, changed: [], removed: [] });
      const next = watcher.next();
      await sessionOf(store, "last", 1);
      expect((await next).changed).toMatchObject([{ sessionId: "last" }]);
    });

    it("A watch ends with its signal and with the store, also while it waits", async () => {
      const store = await open();
      const controller = new AbortController();
      const [stopped, closed] = [watch(store, controller.signal), watch(store)];
      await stopped.next();
      await closed.next();
      const ends = [stopped.read(), closed.read()];
      controller.abort();
      expect(await ends[0]).toMatchObject({ done: true });
      await store.close();
      expect(await ends[1]).toMatchObject({ done: true });
      expect(await watch(store).read()).toMatchObject({ done: true });
    });

    it("The list can be filtered by state, also by principal and in pages", async () => {
      const store = await open();
      for (const [at, state] of (["idle", "waiting", "running", "waiting"] as const).entries()) {
        const { lease } = await acquire(store, `ses_${at}`);
        const index = { state, principal: at === 3 ? "bob" : "ada" };
        await store.append(lease, 0, entry([delta("a", { at: NOW + at })], { index }));
      }
      const ids = async (query: object): Promise<readonly string[]> =>
        (await store.listSessions({ limit: 10, ...query })).sessions.map(
          ({ sessionId }) => sessionId,
        );
      expect(await ids({ state: "waiting" })).toEqual(["ses_3", "ses_1"]);
      expect(await ids({ state: "running" })).toEqual(["ses_2"]);
      expect(await ids({ state: "idle" })).toEqual(["ses_0"]);
      expect(await ids({ state: "waiting", principal: "ada" })).toEqual(["ses_1"]);
      const { sessions, nextPage = "" } = await store.listSessions({ limit: 1, state: "waiting" });
      expect(sessions).toMatchObject([{ sessionId: "ses_3" }]);
      expect(await ids({ state: "waiting", page: nextPage })).toEqual(["ses_1"]);
    });
  });
}

interface Watcher {
  next(): Promise<SessionChanges>;
  read(): Promise<IteratorResult<SessionChanges>>;
}

function watch(store: Store, signal = new AbortController().signal): Watcher {
  const changes = store.watchSessions(signal)[Symbol.asyncIterator]();
  const read = () => withDeadline(changes.next(), () => "the watch reported no change");
  return {
    read,
    async next() {
      const { value, done } = await read();
      if (done === true) throw new Error("The watch has ended");
      return value;
    },
  };
}
