import { describe, expect, it } from "vitest";
import { delta } from "../../test/contracts/store/store-subject.ts";
import { createChangeNotifier, subscribeToLog, type LogView } from "./subscribe-to-log.ts";
import type { LogHead } from "./log-store.ts";

/** A reader of a log that another process writes and shortens. */
function followedLog(seq: number, firstSeq = 1) {
  let head: LogHead = { incarnation: "one", seq, firstSeq };
  const bell = createChangeNotifier();
  const log: LogView = {
    readHead: () => head,
    // One event a batch, so that the reader can be between the start and the end.
    readNext: (sessionId, after) => [{ ...delta(`${after + 1}`), sessionId, seq: after + 1 }],
  };
  const { signal } = new AbortController();
  const following = { sessionId: "ses_1", cursor: undefined };
  const reader = subscribeToLog(log, bell, following, signal)[Symbol.asyncIterator]();
  return {
    read: async (): Promise<number | undefined> => {
      const { value } = await reader.next();
      return value?.events[0]?.seq;
    },
    change: (changed: Partial<LogHead>): void => {
      head = { ...head, ...changed };
      bell.notify("ses_1");
    },
  };
}

describe("a reader while retention drops events of its log", () => {
  it("A reader that has not yet read dropped events is refused instead of skipping them", async () => {
    const { read, change } = followedLog(9);
    expect([await read(), await read()]).toEqual([1, 2]);
    change({ firstSeq: 6 });
    await expect(read()).rejects.toMatchObject({
      code: "cursor_gone",
      details: { sessionId: "ses_1", reason: "retention" },
    });
  });

  it("A reader that is waiting when events that it has not read are dropped is refused at once", async () => {
    const { read, change } = followedLog(2);
    expect([await read(), await read()]).toEqual([1, 2]);
    const next = read();
    change({ seq: 9, firstSeq: 6 });
    await expect(next).rejects.toMatchObject({ code: "cursor_gone" });
  });

  it("A reader that has read all dropped events continues", async () => {
    const { read, change } = followedLog(3);
    expect([await read(), await read()]).toEqual([1, 2]);
    change({ firstSeq: 3 });
    expect(await read()).toBe(3);
  });

  it("A reader that starts after events were dropped reads the remaining ones from the first on", async () => {
    const { read, change } = followedLog(9, 6);
    expect([await read(), await read()]).toEqual([1, 2]);
    change({ seq: 10 });
    expect(await read()).toBe(3);
  });

  it("A reader whose session was deleted and created again is refused", async () => {
    const { read, change } = followedLog(3);
    expect(await read()).toBe(1);
    change({ incarnation: "two" });
    await expect(read()).rejects.toMatchObject({
      code: "cursor_gone",
      details: { sessionId: "ses_1", reason: "deleted" },
    });
  });
});
