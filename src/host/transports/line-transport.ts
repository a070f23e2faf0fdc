import { streamCodec } from "../../domain/codec.ts";
import { createJsonLinesDecoder } from "../../wire/framing/json-lines.ts";
import { MAX_LINE_BYTES } from "../../wire/jsonrpc/rpc-connection.ts";
import type { Incoming, Transport } from "./transport.ts";

export interface LineStreams {
  /** The agent's output: a `ReadableStream` of bytes or strings. */
  readonly input: ReadableInput;
  /** The agent's input: a `WritableStream` of bytes. */
  readonly output: WritableOutput;
  /** Bytes. Longer lines are skipped. Default: 16 MiB. */
  readonly maxLineBytes?: number;
}

/** The used part of web streams. Programs that know both Node's and the browser's types can pass either. */
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
 * A transport over two streams, for example a process's standard input and output, or a socket. Convert Node streams
 * with `Readable.toWeb` and `Writable.toWeb`.
 */
export function createLineTransport(streams: LineStreams): Transport {
  const { input, output, maxLineBytes = MAX_LINE_BYTES } = streams;
  const reader = input.getReader();
  const writer = output.getWriter();
  const queue = createWriteQueue(writer, close);

  function close(): void {
    if (!queue.close()) return;
    // Either stream may have failed already, and reported the error to its reader.
    writer.close().catch(() => {});
    reader.cancel().catch(() => {});
  }
  writer.closed.catch(close);

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
    send: (line) => queue.send(line),
    ready: () => queue.ready(),
    close,
  };
}

/** The lines that the agent has not read yet. `onFailure` is called if a line cannot be written. */
function createWriteQueue(writer: ReturnType<WritableOutput["getWriter"]>, onFailure: () => void) {
  let isClosed = false;
  let queued = 0;
  let waiting: (() => void)[] = [];

  function settle(length: number): void {
    queued -= length;
    if (queued > MAX_QUEUED_CHARACTERS && !isClosed) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  /** Rejects, also if the writer throws synchronously, as Node's converted streams do after their end. */
  async function write(line: string): Promise<void> {
    await writer.write(utf8.encode(line));
  }

  return {
    send(line: string): void {
      if (isClosed) return;
      queued += line.length;
      write(line).then(() => settle(line.length), onFailure);
    },
    ready: (): Promise<void> =>
      isClosed || queued <= MAX_QUEUED_CHARACTERS
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve);
          }),
    /** Ignores later lines. Returns false if the queue is already closed. */
    close(): boolean {
      if (isClosed) return false;
      isClosed = true;
      settle(0);
      return true;
    },
  };
}

const utf8 = new TextEncoder();
/** Characters. Backpressure: an agent that does not read its responses is not read either. */
const MAX_QUEUED_CHARACTERS = 1024 * 1024;
