import { describe, expect, it } from "vitest";
import { streamWriter } from "./stream-writer.ts";

const NEVER = new AbortController().signal;

describe("lines as the events of several streams", () => {
  it("counts what was on its way to a reader that broke off as taken [ACP-139]", async () => {
    const writer = streamWriter();
    writer.write('{"a":1}\n', "ses_1");
    const events = writer.events("ses_1", NEVER)[Symbol.asyncIterator]();
    expect(await events.next()).toEqual({ done: false, value: 'data: {"a":1}\n\n' });
    // As the server does when a client is gone before it has read all.
    await events.return?.();
    expect(writer.queued).toBe(0);
    await writer.below(0);
  });

  it("gives the next reader what came after the one that broke off", async () => {
    const writer = streamWriter();
    writer.write('{"a":1}\n', "ses_1");
    const first = writer.events("ses_1", NEVER)[Symbol.asyncIterator]();
    await first.next();
    writer.write('{"a":2}\n', "ses_1");
    await first.return?.();
    const second = writer.events("ses_1", NEVER)[Symbol.asyncIterator]();
    expect(await second.next()).toEqual({ done: false, value: 'data: {"a":2}\n\n' });
    await second.return?.();
    expect(writer.queued).toBe(0);
  });
});
