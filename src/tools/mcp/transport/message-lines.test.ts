import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMessageLines } from "./message-lines.ts";

function read(text: string, cuts: readonly number[] = [], maxBytes = 1000) {
  const messages: unknown[] = [];
  const junk: string[] = [];
  let tooLong = 0;
  const lines = createMessageLines(maxBytes, {
    onMessage: (message) => void messages.push(message),
    onJunk: (line) => void junk.push(line),
    onTooLong: () => void (tooLong += 1),
  });
  const bytes = Buffer.from(text);
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let at = 0;
  for (const place of [...places, bytes.length]) {
    lines(bytes.subarray(at, place));
    at = place;
  }
  return { messages, junk, tooLong };
}

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
const result = { jsonrpc: "2.0", id: "a", result: { text: "ü\u2028😀" } };

describe("Message lines of a stdio server", () => {
  it("Messages are parsed for any chunk boundaries, and other lines are junk", () => {
    const text = `${JSON.stringify(ping)}\r\nHello\n\n[${JSON.stringify(result)}]\n{"jsonrpc":"2.0"}\n[]\n{"rest`;
    fc.assert(
      fc.property(fc.array(fc.nat()), (cuts) => {
        expect(read(text, cuts)).toEqual({
          messages: [ping, result],
          junk: ["Hello", '{"jsonrpc":"2.0"}', "[]"],
          tooLong: 0,
        });
      }),
    );
  });

  it.each([
    '{"jsonrpc":"2.0","id":null,"method":"x"}',
    '{"jsonrpc":"2.0","method":"x","params":[]}',
    '{"jsonrpc":"2.0","id":1,"result":"text"}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}',
    "[".repeat(1000),
  ])("The line %j is not a message", (line) => {
    expect(read(`${line}\n`, [], 10_000)).toEqual({ messages: [], junk: [line], tooLong: 0 });
  });

  it("Reading ends at a line that is too long, with or without a line end", () => {
    const long = "x".repeat(1001);
    for (const text of [`${JSON.stringify(ping)}\n${long}`, `${JSON.stringify(ping)}\n${long}\n`]) {
      fc.assert(
        fc.property(fc.array(fc.nat()), (cuts) => {
          const more = `${text}${JSON.stringify(ping)}\n`;
          expect(read(more, cuts)).toEqual({ messages: [ping], junk: [], tooLong: 1 });
        }),
      );
    }
  });
});
