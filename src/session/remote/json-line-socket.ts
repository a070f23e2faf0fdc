import type { Duplex } from "node:stream";
import {
  encodeJsonLine,
  createJsonLinesDecoder,
  type JsonLinesItem,
} from "../../wire/framing/json-lines.ts";

/** JSON values over a socket, one per line. */
export interface JsonLineSocket {
  send(value: unknown): void;
  /**
   * Yields each received value. Ends when the other side disconnects or sends an unreadable line; later lines are
   * discarded.
   */
  readValues(): AsyncIterable<unknown>;
  close(): void;
}

/** Far above the size of an event batch. Blobs are never sent this way. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

export function createJsonLineSocket(socket: Duplex): JsonLineSocket {
  // If the other process was killed, the socket emits an error; the values simply end.
  socket.on("error", () => socket.destroy());
  return {
    send(value) {
      if (!socket.destroyed) socket.write(encodeJsonLine(value));
    },
    async *readValues() {
      const decoder = createJsonLinesDecoder({ maxLineBytes: MAX_LINE_BYTES });
      const state = decoder.initial();
      const items: JsonLinesItem[] = [];
      try {
        for await (const chunk of socket) {
          decoder.step(state, chunk, (item) => items.push(item));
          for (const item of items.splice(0)) {
            const read = item.type === "line" ? parseLine(item.text) : undefined;
            if (read === undefined) return void socket.destroy();
            yield read.value;
          }
        }
      } catch {
        // An error counts as the end of the stream.
      }
    },
    close() {
      socket.destroy();
    },
  };
}

/**
 * Parses without a depth limit, because the other side is the same program: a batch nests events deeper than the limit
 * for foreign JSON.
 */
function parseLine(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
