import { describe, expect, it } from "vitest";
import type { LogEntry } from "../../../src/store/log-store.ts";
import type { SessionQuery } from "../../../src/store/session-index.ts";
import type { Store } from "../../../src/store/store.ts";
import {
  acquire,
  delta,
  draft,
  entry,
  finished,
  HOUR,
  NOW,
  type StoreSubject,
} from "./store-subject.ts";

export function storeListing({ open }: StoreSubject): void {
  describe("The list of sessions", () => {
    it("The list has the index data of each session, without sessions that have no events", async () => {
      const store = await open();
      const { lease, head } = await acquire(store, "ses_1");
      await acquire(store, "ses_empty");
      const index = { agent: "demo", principal: "ada", workingDirectory: "/home/ada" };
      await store.append(lease, 0, entry([delta("a", { at: NOW + 1 })], { index }));
      const folders = ["/home/ada/lib", "/srv/\u00e9"];
      const said = { title: "Tea", state: "waiting", folders } as const;
      const rest = { index: said, wakeAt: NOW + 9 };
      await store.append(lease, 1, entry([delta("b", { at: NOW + 2 })], rest));
      const record = {
        sessionId: "ses_1",
        incarnation: head.incarnation,
        ...index,
        title: "Tea",
        label: null,
        lineage: null,
        folders,
        state: "waiting",
        createdAt: NOW,
        updatedAt: NOW + 2,
        seq: 2,
        wakeAt: NOW + 9,
      };
      expect(await store.listSessions({ limit: 10 })).toEqual({ sessions: [record] });
      expect(await store.findSession("ses_1")).toEqual(record);
      expect(await store.findSession("ses_empty")).toBeUndefined();
      expect(await store.findSession("ses_2")).toBeUndefined();
      await store.append(lease, 2, entry([], { wakeAt: null }));
      expect(await store.findSession("ses_1")).toEqual({ ...record, wakeAt: null });
    });

    it("The list can leave out sessions of workers, and a deleted session takes its workers at all levels with it", async () => {
      const store = await open();
      await makeTree(store);
      expect(await idsOf(store, { parent: null })).toEqual(["other", "root"]);
      expect(await idsOf(store, { parent: "root" })).toEqual(["child"]);
      expect(await store.findSession("leaf")).toMatchObject({
        lineage: { parentSessionId: "child", rootSessionId: "root", depth: 2 },
      });
      expect(await store.deleteSession("root")).toBe(true);
      expect(await idsOf(store, {})).toEqual(["other"]);
      expect(await store.readHead("leaf")).toBeUndefined();
      expect(await store.deleteSession("root")).toBe(false);
    });

    it("The list has pages, newest first, and handles equal times", async () => {
      const store = await open();
      for (const [index, id] of ["a", "b", "c", "d", "e", "f", "g"].entries()) {
        await make(store, id, entry([delta(id, { at: NOW + Math.floor(index / 3) })]));
      }
      const pages: string[][] = [];
      for (let page: string | undefined = ""; page !== undefined;) {
        const { sessions, nextPage } = await store.listSessions({
          limit: 2,
          ...(page === "" ? {} : { page }),
        });
        pages.push(sessions.map(({ sessionId }) => sessionId));
        page = nextPage;
      }
      expect(pages).toEqual([["g", "f"], ["e", "d"], ["c", "b"], ["a"]]);
      const [wrong, none] = [
        { limit: 2, page: "nonsense" },
        { limit: 2, page: "0.a" },
      ];
      await expect(store.listSessions(wrong)).rejects.toMatchObject({ code: "invalid_option" });
      expect(await store.listSessions(none)).toEqual({ sessions: [] });
    });

    it("The list can be filtered by principal, agent, folder and label", async () => {
      const store = await open();
      await make(store, "a", entry([delta("")], { index: { principal: "ada", agent: "demo" } }));
      await make(store, "b", entry([delta("")], { index: { principal: "bob", agent: "demo" } }));
      await make(store, "c", entry([delta("")], { index: { workingDirectory: "/w" } }));
      await make(store, "d", entry([delta("")], { index: { label: "key-1" } }));
      await make(store, "e", entry([delta("")], { index: { label: "key-10" } }));
      expect(await idsOf(store, { principal: "ada" })).toEqual(["a"]);
      expect(await idsOf(store, { agent: "demo" })).toEqual(["b", "a"]);
      expect(await idsOf(store, { agent: "demo", principal: "bob" })).toEqual(["b"]);
      expect(await idsOf(store, { workingDirectory: "/w" })).toEqual(["c"]);
      expect(await idsOf(store, { label: "key-1" })).toEqual(["d"]);
      expect(await store.findSession("d")).toMatchObject({ label: "key-1" });
    });

    it.each([
      ["in the title", "weekend", ["title"]],
      ["in the id", "ses_by_id", ["ses_by_id"]],
      ["in a message of the agent", "Take", ["answer"]],
      ["in a prompt", "umbrellas", ["prompt"]],
      ["inside a longer word, in any letter case", "Umbrella", ["prompt", "answer"]],
      ["of two letters, in any script", "東京", ["japanese"]],
      ["of more than two letters, in any script", "東京都", ["japanese"]],
      ["that are not adjacent", "rain  umbrella", ["answer"]],
      ["that do not all occur", "rain tokyo", []],
      ["with operators of the search language", '"100%_" OR', []],
      ["with punctuation that occurs", '100% "sure"', ["answer"]],
      ["that occur only in deltas", "unfinished", []],
      ["consisting of blanks only", " ", ["prompt", "answer", "japanese", "ses_by_id", "title"]],
    ])("A search for words %s returns the matching sessions", async (_, search, ids) => {
      const store = await open();
      await make(store, "title", entry([delta("unfinished")], { index: { title: "The Weekend" } }));
      await make(store, "ses_by_id", entry([delta("")]));
      await make(store, "japanese", entry([finished("ここは東京都です")]));
      await make(store, "answer", entry([finished('Take an umbrella. Rain is 100% "sure".')]));
      const content = [{ type: "text", text: "What about umbrellas?" }] as const;
      const sent = { type: "message.sent", messageId: "msg_1", content, origin: "prompt" } as const;
      await make(store, "prompt", entry([draft(sent)]));
      expect(await idsOf(store, { search })).toEqual(inOrder(ids));
    });

    it("A search does not find a deleted session", async () => {
      const store = await open();
      await make(store, "a", entry([finished("umbrella")]));
      expect(await store.deleteSession("a")).toBe(true);
      expect(await store.deleteSession("a")).toBe(false);
      await make(store, "a", entry([finished("tea")]));
      expect(await idsOf(store, { search: "umbrella" })).toEqual([]);
    });
  });

  describe("claimDue", () => {
    const claim = { owner: "waker", durationMs: HOUR, limit: 10 };

    it("Due sessions without an owner are leased, the longest due first", async () => {
      const store = await open();
      for (const [id, wakeAt] of [
        ["late", NOW + 5],
        ["early", NOW + 1],
        ["future", NOW + 99],
      ] as const)
        await make(store, id, entry([delta("")], { wakeAt }));
      const { lease } = await acquire(store, "owned");
      await store.append(lease, 0, entry([delta("")], { wakeAt: NOW }));
      await make(store, "asleep", entry([delta("")]));
      const claimed = await store.claimDue(NOW + 5, claim);
      expect(claimed).toMatchObject([
        { lease: { sessionId: "early", owner: "waker" }, head: { seq: 1 }, wasAbandoned: false },
        { lease: { sessionId: "late", owner: "waker" }, head: { seq: 1 }, wasAbandoned: false },
      ]);
      expect(await store.claimDue(NOW + 6, claim)).toEqual([]);
      for (const { lease } of claimed) await store.append(lease, 1, entry([], { wakeAt: null }));
      const later = await store.claimDue(NOW + HOUR, { ...claim, limit: 1 });
      expect(later).toMatchObject([{ lease: { sessionId: "owned" }, wasAbandoned: true }]);
    });
  });
}

/** A session with a worker, which has a worker, and a session without workers. */
async function makeTree(store: Store): Promise<void> {
  const child = { parentSessionId: "root", workerId: "w1", rootSessionId: "root", depth: 1 };
  const leaf = { parentSessionId: "child", workerId: "w2", rootSessionId: "root", depth: 2 };
  await make(store, "root", entry([delta("a")]));
  await make(store, "child", entry([delta("a", { at: NOW + 1 })], { index: { lineage: child } }));
  await make(store, "leaf", entry([delta("a", { at: NOW + 2 })], { index: { lineage: leaf } }));
  await make(store, "other", entry([delta("a", { at: NOW + 3 })]));
}

async function make(store: Store, sessionId: string, first: LogEntry): Promise<void> {
  const { lease } = await acquire(store, sessionId);
  await store.append(lease, 0, first);
  await store.release(lease);
}

async function idsOf(store: Store, query: Omit<SessionQuery, "limit">): Promise<readonly string[]> {
  const { sessions } = await store.listSessions({ limit: 10, ...query });
  return sessions.map(({ sessionId }) => sessionId);
}

/** Sessions with the same time are listed by descending id. */
function inOrder(ids: readonly string[]): readonly string[] {
  return ids.toSorted().toReversed();
}
