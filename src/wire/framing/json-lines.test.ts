import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  splitChunks,
  fuzz,
  mutateBytes,
  splitRandomly,
} from "../../../test/support/bytes/bytes.ts";
import { decodeChecked, decodeAllWays } from "../../../test/support/bytes/framing.ts";
import { runCodec } from "../../domain/codec.ts";
import {
  encodeJsonLine,
  createJsonLinesDecoder,
  type JsonLinesItem,
  type JsonLinesState,
} from "./json-lines.ts";
import { allowLongTests, runs } from "../../../test/support/test-depth.ts";

allowLongTests();

const utf8 = new TextEncoder();

function line(text: string, offset: number): unknown {
  return { type: "line", text, offset };
}

function tooLarge(offset: number): unknown {
  return { type: "failure", code: "line_too_large", offset };
}

describe("Reading JSON lines", () => {
  it.each<[fact: string, input: string, items: unknown[]]>([
    [
      "Each line becomes one item",
      '{"a":1}\n[2]\n"3"\n',
      [line('{"a":1}', 0), line("[2]", 8), line('"3"', 12)],
    ],
    ["One CR before the LF is removed", "1\r\n2\r\r\n", [line("1", 0), line("2\r", 3)]],
    [
      "Only LF ends a line",
      '"a\u2028b\u2029c\u0085d\ve\ff\rg"\n',
      [line('"a\u2028b\u2029c\u0085d\ve\ff\rg"', 0)],
    ],
    ["Blank lines are skipped", "\n\r\n  \t\n1\n\n\n2\n \n", [line("1", 7), line("2", 11)]],
    ["Spaces around a value are kept", " 1 \n", [line(" 1 ", 0)]],
    [
      "A line of characters that JSON does not treat as whitespace is kept",
      "\u00a0\n",
      [line("\u00a0", 0)],
    ],
    [
      "Characters of one to four bytes are decoded",
      '"é世🚀"\n"𝒳"\n',
      [line('"é世🚀"', 0), line('"𝒳"', 12)],
    ],
    ["A byte order mark at the start is skipped", "\uFEFF1\n2\n", [line("1", 3), line("2", 5)]],
    [
      "A byte order mark after the start is text",
      "1\n\uFEFF2\n",
      [line("1", 0), line("\uFEFF2", 2)],
    ],
    ["The last line is emitted without its LF", '1\n{"a":', [line("1", 0), line('{"a":', 2)]],
    ["A CR at the end of the input is removed", "1\r", [line("1", 0)]],
    ["An empty input produces no items", "", []],
    ["An input of a byte order mark only produces no items", "\uFEFF", []],
  ])("%s", (_, input, items) => {
    expect(decodeAllWays(createJsonLinesDecoder(), input)).toEqual(items);
  });

  it("Bytes that are not valid UTF-8 become U+FFFD", () => {
    expect(
      decodeAllWays(createJsonLinesDecoder(), Uint8Array.of(0xef, 0xbb, 0x31, 0x0a, 0xf0, 0x9f)),
    ).toEqual([line("\uFFFD1", 0), line("\uFFFD", 4)]);
  });

  it("A line above the limit produces one failure, and the next line is read", () => {
    const input = `${"a".repeat(80)}\n${"b".repeat(81)}\n${"c".repeat(300)}\n"d"\n`;
    expect(decodeAllWays(createJsonLinesDecoder({ maxLineBytes: 80 }), input)).toEqual([
      line("a".repeat(80), 0),
      tooLarge(81),
      tooLarge(163),
      line('"d"', 464),
    ]);
  });

  it("A line above the limit without an LF produces no second failure at the end", () => {
    expect(decodeAllWays(createJsonLinesDecoder({ maxLineBytes: 4 }), "1\n12345")).toEqual([
      line("1", 0),
      tooLarge(2),
    ]);
  });

  it("A line above the limit fails before its end arrives, and its bytes are discarded", () => {
    const decoder = createJsonLinesDecoder({ maxLineBytes: 1000 });
    const state = decoder.initial();
    const items: JsonLinesItem[] = [];
    for (const chunk of splitChunks(new Uint8Array(100_000).fill(0x61), 999)) {
      decoder.step(state, chunk, (item) => items.push(item));
      expect(state.line.bytes.length).toBeLessThanOrEqual(1000);
      expect(items.length).toBe(state.offset > 1000 ? 1 : 0);
    }
  });

  it("A line of 20 MiB is read by default, and its buffer is released", () => {
    const text = "x".repeat(20 * 1024 * 1024);
    const decoder = createJsonLinesDecoder();
    const state = decoder.initial();
    const items: JsonLinesItem[] = [];
    for (const chunk of splitChunks(utf8.encode(`${text}\n`), 65_536)) {
      decoder.step(state, chunk, (item) => items.push(item));
    }
    expect(items.map((item) => item.type === "line" && item.text === text)).toEqual([true]);
    expect(state.line.bytes.length).toBe(0);
  });

  it("Any input yields the same lines as splitting at LF", () => {
    const token = fc.constantFrom(
      "\n",
      "\r\n",
      "\r",
      " ",
      "{",
      '"a"',
      "é",
      "🚀",
      "\u2028",
      "\uFEFF",
      "\t",
    );
    const text = fc.array(token, { maxLength: 30 }).map((tokens) => tokens.join(""));
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 40 }), (input, size) => {
        const lines = input.replace(/^\uFEFF/, "").split("\n");
        const texts = lines
          .map((each) => each.replace(/\r$/, ""))
          .filter((each) => /[^ \t\r]/.test(each));
        const items = runCodec(createJsonLinesDecoder(), splitChunks(utf8.encode(input), size));
        expect(items.map((item) => item.type === "line" && item.text)).toEqual(texts);
      }),
      { numRuns: runs(3000) },
    );
  });

  it("Random input never throws, buffers at most the limit, and yields the same items for every split", () => {
    const inputs = [
      '\uFEFF{"a":"é世🚀"}\r\n\n[1,2]\n"x"\n\r\n  \n{"b"',
      `${"x".repeat(60)}\n${"y".repeat(90)}\n1\n${"z".repeat(200)}`,
    ].map((text) => utf8.encode(text));
    const check = (random: (below: number) => number): void => {
      const bytes = mutateBytes(inputs[random(2)] ?? new Uint8Array(0), random);
      const options = { maxLineBytes: [5, 60, 10_000][random(3)] ?? 0 };
      const whole = decodeChecked(createJsonLinesDecoder(options), [bytes], checkHeld);
      const split = decodeChecked(
        createJsonLinesDecoder(options),
        splitRandomly(bytes, random),
        checkHeld,
      );
      if (whole !== split) throw new Error(`unlike when split: ${whole} | ${split}`);
    };
    expect(() => fuzz(100_000, check)).not.toThrow();
  });
});

describe("Writing JSON lines", () => {
  it("Any JSON value is written as exactly one line and read back unchanged", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = encodeJsonLine(value);
        expect(text.indexOf("\n")).toBe(text.length - 1);
        const [item] = runCodec(createJsonLinesDecoder(), [utf8.encode(text)]);
        expect(item).toEqual(line(JSON.stringify(value), 0));
      }),
    );
  });

  it("Strings with line ends are written in one line", () => {
    expect(encodeJsonLine({ text: "a\r\nb\u2028" })).toBe('{"text":"a\\r\\nb\u2028"}\n');
  });

  it("A value without a JSON form is written as null", () => {
    expect([undefined, () => 1, Symbol("s")].map(encodeJsonLine)).toEqual([
      "null\n",
      "null\n",
      "null\n",
    ]);
  });
});

function checkHeld({ line, maxLineBytes }: JsonLinesState): void {
  const pendingSize = line.bytes.length;
  if (pendingSize > maxLineBytes) throw new Error(`holds ${pendingSize} bytes`);
}
