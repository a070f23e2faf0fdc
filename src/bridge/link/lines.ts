import type { Duplex } from "node:stream";
import { parseJson } from "../../domain/json.ts";
import { encodeJsonLine, jsonLinesDecoder } from "../../wire/framing/json-lines.ts";

/** JSON values over a socket, one per line. */
export interface Lines {
  send(value: unknown): void;
  /** Each value as it comes; ends when the other side is gone. */
  values(): AsyncIterable<unknown>;
  close(): void;
}

/** A batch of events is far below; a blob never comes this way. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

export function linesOver(socket: Duplex): Lines {
  // A socket whose other end was killed reports that as an error; its values just end.
  socket.on("error", () => socket.destroy());
  return {
    send(value) {
      if (!socket.destroyed) socket.write(encodeJsonLine(value));
    },
    async *values() {
      const decoder = jsonLinesDecoder({ maxLineBytes: MAX_LINE_BYTES });
      const state = decoder.initial();
      const texts: string[] = [];
      try {
        for await (const chunk of socket) {
          decoder.step(state, chunk, (item) => {
            if (item.type === "line") texts.push(item.text);
          });
          for (const text of texts.splice(0)) {
            const parsed = parseJson(text);
            if (parsed.ok) yield parsed.value;
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
