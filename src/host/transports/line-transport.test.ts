import { PassThrough, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Incoming } from "./transport.ts";
import { createLineTransport } from "./line-transport.ts";

function streams(pieces: readonly (Uint8Array | string)[], maxLineBytes?: number) {
  const written: string[] = [];
  const decoder = new TextDecoder();
  let ended = false;
  const transport = createLineTransport({
    input: new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    }),
    output: new WritableStream({
      write: (bytes) => void written.push(decoder.decode(bytes)),
      close: () => void (ended = true),
    }),
    ...(maxLineBytes !== undefined && { maxLineBytes }),
  });
  return { transport, written, isEnded: () => ended };
}

async function all(incoming: AsyncIterable<Incoming>): Promise<Incoming[]> {
  const items: Incoming[] = [];
  for await (const item of incoming) items.push(item);
  return items;
}

describe("Lines over streams", () => {
  it("Lines are decoded from bytes and strings, however the chunks are split", async () => {
    const bytes = new TextEncoder().encode('{"a":"é"}\n');
    const { transport } = streams([bytes.slice(0, 7), bytes.slice(7), '{"b":', "1}\n\n", "[2]"]);
    expect(await all(transport.incoming)).toEqual([
      { type: "line", text: '{"a":"é"}' },
      { type: "line", text: '{"b":1}' },
      { type: "line", text: "[2]" },
    ]);
  });

  it("A line over the limit is skipped, and the next line is read", async () => {
    const { transport } = streams([`${"x".repeat(50)}\n1\n`], 10);
    const [long, next] = await all(transport.incoming);
    expect(long).toMatchObject({
      type: "passed-over",
      reason: expect.stringContaining("10 bytes"),
    });
    expect(next).toEqual({ type: "line", text: "1" });
  });

  it("Lines are written in order, and the output is closed at the end", async () => {
    const { transport, written, isEnded } = streams([]);
    transport.send("1\n");
    transport.send("2\n");
    await all(transport.incoming);
    expect(written.join("")).toBe("1\n2\n");
    expect(isEnded()).toBe(true);
    transport.send("3\n");
    expect(written.join("")).toBe("1\n2\n");
  });

  it("The transport is not ready while the output is not read", async () => {
    let take = (): void => {};
    const transport = createLineTransport({
      input: new ReadableStream(),
      output: new WritableStream({
        write: () =>
          new Promise<void>((resolve) => {
            take = resolve;
          }),
      }),
    });
    await transport.ready();
    transport.send("x".repeat(2 * 1024 * 1024));
    let isReady = false;
    const ready = transport.ready().then(() => (isReady = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isReady).toBe(false);
    take();
    await ready;
    expect(isReady).toBe(true);
    transport.close();
  });

  it("The transport ends if Node's output stream has already ended", async () => {
    const ended = new PassThrough().end();
    const transport = createLineTransport({
      input: new ReadableStream(),
      output: Writable.toWeb(ended),
    });
    transport.send("1\n");
    expect(await all(transport.incoming)).toEqual([]);
  });

  it("The transport ends when writing fails", async () => {
    const transport = createLineTransport({
      input: new ReadableStream(),
      output: new WritableStream({
        write() {
          throw new Error("EPIPE");
        },
      }),
    });
    transport.send("1\n");
    expect(await all(transport.incoming)).toEqual([]);
  });
});
