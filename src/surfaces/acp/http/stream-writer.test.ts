import { describe, expect, it } from "vitest";
import { createStreamWriter } from "./stream-writer.ts";

describe("The stream writer for HTTP", () => {
  it("Lines taken by a reader count as sent, also if the reader disconnects during the write [ACP-14]", async () => {
    const writer = createStreamWriter();
    writer.write("one\n", "ses_1");
    const controller = new AbortController();
    const reader = writer.readEvents("ses_1", controller.signal)[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ done: false, value: "data: one\n\n" });
    // The client disconnects before the chunk is written completely.
    controller.abort();
    await reader.return?.();
    expect(writer.queuedCharacters).toBe(0);
  });

  it("Lines for a session name over 200 characters, or beyond 1,000 streams, go to the connection's stream", async () => {
    const writer = createStreamWriter();
    const { signal } = new AbortController();
    writer.write("long\n", "x".repeat(201));
    for (let at = 0; at < 1200; at += 1) writer.write(`${at}\n`, `ses_${at}`);
    const connection = await writer.readEvents(undefined, signal)[Symbol.asyncIterator]().next();
    expect(String(connection.value).split("\n\n")).toHaveLength(1 + 201 + 1);
    const first = await writer.readEvents("ses_0", signal)[Symbol.asyncIterator]().next();
    expect(first.value).toBe("data: 0\n\n");
  });

  it("Each session's queue is counted separately, and dropping an unread session discards its queue", async () => {
    const writer = createStreamWriter();
    writer.write("one\n", "ses_1");
    writer.write("two\n", "ses_2");
    const counts = (): readonly number[] => [
      writer.findStream?.("ses_1").queuedCharacters ?? 0,
      writer.findStream?.("ses_2").queuedCharacters ?? 0,
      writer.queuedCharacters,
    ];
    expect(counts()).toEqual([4, 4, 8]);
    const emptied = writer.findStream?.("ses_1").waitUntilBelow(0);
    expect(writer.dropSession?.("ses_1")).toBe(true);
    await emptied;
    expect(counts()).toEqual([0, 4, 4]);
    const reader = writer.readEvents("ses_2", new AbortController().signal)[Symbol.asyncIterator]();
    await reader.next();
    expect(writer.dropSession?.("ses_2")).toBe(false);
    await reader.return?.();
    expect(counts()).toEqual([0, 0, 0]);
  });

  it("The next reader of a stream continues with the lines written since, and the previous reader ends", async () => {
    const writer = createStreamWriter();
    writer.write("one\n", "ses_1");
    const first = writer.readEvents("ses_1", new AbortController().signal)[Symbol.asyncIterator]();
    await first.next();
    writer.write("two\n", "ses_1");
    const next = writer.readEvents("ses_1", new AbortController().signal)[Symbol.asyncIterator]();
    expect(await next.next()).toEqual({ done: false, value: "data: two\n\n" });
    expect(await first.next()).toEqual({ done: true, value: undefined });
  });
});
