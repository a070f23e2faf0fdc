import { describe, expect, it } from "vitest";
import { delta } from "../../test/contracts/store/store-subject.ts";
import { createChangeNotifier, subscribeToLog, type LogView } from "./subscribe-to-log.ts";
import type { LogHead } from "./log-store.ts";

/** Subscribes to a log that another process appends to and shortens. */
function followedLog(seq: number, firstSeq = 1) {
  let head: LogHead = { incarnation: "one", seq, firstSeq };
  const notifier = createChangeNotifier();
  const log: LogView = {
    readHead: () => head,
    // One event per batch, so the reader can be anywhere between the start and the end.
    readNext: (sessionId, after) => [{ ...delta(`${after + 1}`), sessionId, seq: after + 1 }],
  };
  const { signal } = new AbortController();
  const following = { sessionId: "ses_1", cursor: undefined };
  const reader = subscribeToLog(log, notifier, following, signal)[Symbol.asyncIterator]();
  return {
    read: async (): Promise<number | undefined> => {
      const { value } = await reader.next();
      return value?.events[0]?.seq;
    },
    change: (changed: Partial<LogHead>): void => {
      head = { ...head, ...changed };
      notifier.notify("ses_1");
    },
  };
}

describe("Subscriptions during retention", () => {
  it("A reader with unread events is refused when they are dropped, instead of skipping them", async () => {
    const { read, change } = followedLog(9);
    expect([await read(), await read()]).toEqual([1, 2]);
    change({ firstSeq: 6 });
    await expect(read()).rejects.toMatchObject({
      code: "cursor_gone",
      details: { sessionId: "ses_1", reason: "retention" },
    });
  });

  it("A waiting reader is refused at once when unread events are dropped", async () => {
    const { read, change } = followedLog(2);
    expect([await read(), await read()]).toEqual([1, 2]);
    const next = read();
    change({ seq: 9, firstSeq: 6 });
    await expect(next).rejects.toMatchObject({ code: "cursor_gone" });
  });

  it("A reader continues if it has read all dropped events", async () => {
    const { read, change } = followedLog(3);
    expect([await read(), await read()]).toEqual([1, 2]);
    change({ firstSeq: 3 });
    expect(await read()).toBe(3);
  });

  it("A reader started after a retention run reads all remaining events", async () => {
    const { read, change } = followedLog(9, 6);
    expect([await read(), await read()]).toEqual([1, 2]);
    change({ seq: 10 });
    expect(await read()).toBe(3);
  });

  it("A reader is refused if its session was deleted and created again", async () => {
    const { read, change } = followedLog(3);
    expect(await read()).toBe(1);
    change({ incarnation: "two" });
    await expect(read()).rejects.toMatchObject({
      code: "cursor_gone",
      details: { sessionId: "ses_1", reason: "deleted" },
    });
  });
});
