import type { Duplex } from "node:stream";
import {
  encodeJsonLine,
  createJsonLinesDecoder,
  type JsonLinesItem,
} from "../../wire/framing/json-lines.ts";

/** JSON values over a socket, one per line. */
export interface JsonLineSocket {
  send(value: unknown): void;
  /** Each value as it comes. Ends when the other side is gone, or says what cannot be read: then nothing after it counts. */
  readValues(): AsyncIterable<unknown>;
  close(): void;
}

/** A batch of events is far below; a blob never comes this way. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

export function createJsonLineSocket(socket: Duplex): JsonLineSocket {
  // A socket whose other end was killed reports that as an error; its values just end.
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
        // The same as its end.
      }
    },
    close() {
      socket.destroy();
    },
  };
}

/** The other side is this same program: a batch around an event may be nested deeper than what is let in elsewhere. */
function parseLine(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
