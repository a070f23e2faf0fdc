import type { ServerResponse } from "node:http";

/** Where the headers and the pieces of an answer go. What is there at the same time goes at once. */
export interface ChunkWriter {
  /** The client learns the status before the first piece, which may be long in coming. */
  open(): void;
  /** False when the client is to read first. */
  write(piece: Uint8Array | string): boolean;
  /** Resolves when the client has read enough, or is gone. */
  waitForDrain(): Promise<void>;
  /** Keeps nothing back any longer. */
  flush(): void;
}

/**
 * Node sends a piece as four, its length, its bytes and two line ends, and makes a list of them for every client. Here it
 * goes to the connection as one, and as the same one to all who are sent it in turn: with many readers of one stream that
 * is a third of what an event costs. The status is written, and nothing else.
 */
export function createChunkWriter(outgoing: ServerResponse): ChunkWriter {
  const { socket } = outgoing;
  // HTTP/1.0 has no pieces, and what answers HEAD has no body.
  if (socket === null || !outgoing.chunkedEncoding) return createPlainWriter(outgoing);
  let isGathering = false;
  const gather = (): void => {
    if (isGathering) return;
    isGathering = true;
    socket.cork();
    process.nextTick(flush);
  };
  const flush = (): void => {
    if (!isGathering) return;
    isGathering = false;
    socket.uncork();
  };
  return {
    open() {
      gather();
      outgoing.flushHeaders();
    },
    write(piece) {
      // An empty one would be the end.
      if (piece.length === 0 || socket.destroyed) return true;
      gather();
      return socket.write(encodeChunk(piece));
    },
    waitForDrain: () => waitForDrain(socket, outgoing),
    flush,
  };
}

/** Each piece by itself, as Node sends it. */
export function createPlainWriter(outgoing: ServerResponse): ChunkWriter {
  return {
    open: () => outgoing.flushHeaders(),
    write: (piece) => outgoing.write(piece),
    waitForDrain: () => waitForDrain(outgoing, outgoing),
    flush: () => {},
  };
}

/** The last one that was framed: of what goes to many, the next is mostly the same. */
let lastChunk: { readonly piece: Uint8Array | string; readonly chunk: Uint8Array } | undefined;

function encodeChunk(piece: Uint8Array | string): Uint8Array {
  if (lastChunk !== undefined && lastChunk.piece === piece) return lastChunk.chunk;
  const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
  const chunk = Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`, "latin1"),
    bytes,
    LINE_END,
  ]);
  lastChunk = chunk.length > MAX_CACHED_BYTES ? undefined : { piece, chunk };
  return chunk;
}

const LINE_END = Buffer.from("\r\n");
/** Bytes: nobody keeps a whole file for the sake of who might be sent it next. */
const MAX_CACHED_BYTES = 64 * 1024;

interface DrainEmitter {
  on(event: "drain", listener: () => void): unknown;
  off(event: "drain", listener: () => void): unknown;
}

function waitForDrain(from: DrainEmitter, outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      from.off("drain", settle);
      outgoing.off("close", settle);
      resolve();
    };
    from.on("drain", settle);
    outgoing.on("close", settle);
    if (outgoing.destroyed) settle();
  });
}
