import { streamCodec } from "../../domain/codec.ts";
import { createJsonLinesDecoder } from "../../wire/framing/json-lines.ts";
import { MAX_LINE_BYTES } from "../../wire/jsonrpc/rpc-connection.ts";
import type { Incoming, Transport } from "./transport.ts";

export interface LineStreams {
  /** What the agent writes: a `ReadableStream` of bytes or texts. */
  readonly input: ReadableInput;
  /** What the agent reads: a `WritableStream` that takes bytes. */
  readonly output: WritableOutput;
  /** A longer line is passed over. */
  readonly maxLineBytes?: number;
}

/** As much of web streams as is used: those of Node and of browsers are other types where a program knows both. */
export interface ReadableInput {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | string | undefined }>;
    cancel(): Promise<void>;
  };
}

export interface WritableOutput {
  getWriter(): {
    readonly closed: Promise<unknown>;
    write(bytes: Uint8Array): Promise<void>;
    close(): Promise<void>;
  };
}

/**
 * An agent at the ends of two streams: a program's standard input and output, a socket. Of Node's streams
 * `Readable.toWeb` and `Writable.toWeb` make these.
 */
export function createLineTransport(streams: LineStreams): Transport {
  const { input, output, maxLineBytes = MAX_LINE_BYTES } = streams;
  const reader = input.getReader();
  const writer = output.getWriter();
  let isClosed = false;
  let queued = 0;
  let waiting: (() => void)[] = [];

  function settle(length: number): void {
    queued -= length;
    if (queued > MAX_QUEUED_CHARACTERS && !isClosed) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    settle(0);
    // Either side may have failed already, and said so to whoever reads.
    writer.close().catch(() => {});
    reader.cancel().catch(() => {});
  }
  writer.closed.catch(close);

  /** Rejects, also where a stream that has ended throws at once, as those that Node makes of its own do. */
  async function write(line: string): Promise<void> {
    await writer.write(utf8.encode(line));
  }

  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || value === undefined) return;
      yield typeof value === "string" ? utf8.encode(value) : value;
    }
  }

  async function* incoming(): AsyncGenerator<Incoming, void, undefined> {
    try {
      for await (const item of streamCodec(createJsonLinesDecoder({ maxLineBytes }), chunks())) {
        yield item.type === "line"
          ? { type: "line", text: item.text }
          : { type: "passed-over", reason: item.error.message, start: item.start };
      }
    } finally {
      close();
    }
  }

  return {
    incoming: incoming(),
    send(line) {
      if (isClosed) return;
      queued += line.length;
      write(line).then(() => settle(line.length), close);
    },
    ready: () =>
      isClosed || queued <= MAX_QUEUED_CHARACTERS
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve);
          }),
    close,
  };
}

const utf8 = new TextEncoder();
/** Characters. An agent that asks and does not read is not heard either. */
const MAX_QUEUED_CHARACTERS = 1024 * 1024;
