import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import {
  splitChunks,
  fuzz,
  mutateBytes,
  splitRandomly,
  twoWaySplits,
} from "../../../test/support/bytes/bytes.ts";
import {
  decodeChecked,
  decode,
  decodeAllWays,
  toPlain,
} from "../../../test/support/bytes/framing.ts";
import { runCodec } from "../../domain/codec.ts";
import { createSseDecoder, type SseItem, type SseState } from "./sse.ts";
import { allowLongTests, runs } from "../../../test/support/test-depth.ts";

allowLongTests();

const utf8 = new TextEncoder();

function event(data: string, offset: number, more: object = {}): unknown {
  return { type: "event", event: "", data, offset, ...more };
}

function cutOff(offset: number, pendingBytes: number): unknown {
  return { type: "failure", code: "truncated_stream", offset, pendingBytes };
}

describe("Reading server-sent events", () => {
  it.each<[fact: string, stream: string, items: unknown[]]>([
    [
      "A blank line ends an event",
      'data: {"a":1}\n\ndata: two\n\n\n\ndata: 3\n\n',
      [event('{"a":1}', 0), event("two", 15), event("3", 28)],
    ],
    [
      "Exactly one space after the colon is removed [AC-72]",
      "data:x\n\ndata: x\n\ndata:  x\n\ndata:\tx\n\n",
      [event("x", 0), event("x", 8), event(" x", 17), event("\tx", 27)],
    ],
    [
      "Lines may end with CRLF [AC-72]",
      "event: a\r\ndata: 1\r\ndata: 2\r\n\r\ndata: 3\r\n\r\n",
      [event("1\n2", 0, { event: "a" }), event("3", 30)],
    ],
    [
      "Lines may end with CR alone [AC-72]",
      "event: a\rdata: 1\rdata: 2\r\rdata: 3\r\r",
      [event("1\n2", 0, { event: "a" }), event("3", 26)],
    ],
    [
      "Line ends of every kind may occur in one stream [AC-72]",
      "data: 1\n\r\ndata: 2\r\rdata: 3\r\n\ndata: 4\n\r",
      [event("1", 0), event("2", 10), event("3", 19), event("4", 29)],
    ],
    [
      "A byte order mark at the start is skipped [AC-72]",
      "\uFEFFdata: 1\n\ndata: 2\n\n",
      [event("1", 3), event("2", 12)],
    ],
    [
      "A byte order mark after the start is text",
      "data: \uFEFF1\n\n\uFEFFdata: 2\n\ndata: 3\n\n",
      [event("\uFEFF1", 0), event("3", 24)],
    ],
    ["A second byte order mark is text", "\uFEFF\uFEFFdata: 1\n\n", []],
    [
      "U+2028, U+2029, U+0085, VT and FF do not end a line",
      "data: a\u2028b\u2029c\u0085d\ve\ff\n\n",
      [event("a\u2028b\u2029c\u0085d\ve\ff", 0)],
    ],
    ["NUL and tab are kept in data", "data: a\0b\tc\n\n", [event("a\0b\tc", 0)]],
    [
      "Data lines are joined with LF",
      "data: [1,\ndata:\ndata: 2]\ndata\n\n",
      [event("[1,\n\n2]\n", 0)],
    ],
    [
      "A data field without a value yields an event with empty data",
      "data\n\ndata:\n\ndata: \n\n",
      [event("", 0), event("", 6), event("", 13)],
    ],
    [
      "An event has its own id, name and retry fields",
      "id: 7\nevent: error\nretry: 1500\ndata: x\n\ndata: y\n\nid\nevent\ndata: z\n\n",
      [
        event("x", 0, { id: "7", event: "error", retry: 1500 }),
        event("y", 40),
        event("z", 49, { id: "" }),
      ],
    ],
    [
      "A later field replaces an earlier field",
      "event: a\nevent: b\nid: 1\nid: 2\nretry: 1\nretry: 2\ndata: x\n\n",
      [event("x", 0, { event: "b", id: "2", retry: 2 })],
    ],
    ["An id with a NUL is ignored", "id: 1\0\ndata: x\n\n", [event("x", 0)]],
    [
      "A retry is ignored if it is not a number of 1 to 15 digits",
      `retry: 1.5\nretry: -1\nretry:\nretry: 1e3\nretry: ${"9".repeat(400)}\ndata: x\n\n`,
      [event("x", 0)],
    ],
    [
      "Unknown fields are ignored",
      "datum: 1\nDATA: 2\n data: 3\ndata : 4\ndat\nx\ndatab\n\ndata: 5\n\n",
      [event("5", 48)],
    ],
    [
      "An event without data is not emitted, and its fields are discarded",
      "event: a\nid: 1\nretry: 5\n\ndata: x\n\n",
      [event("x", 25)],
    ],
    [
      "Comments are emitted at their position",
      ": heartbeat\n\ndata: 1\n:\n:  two\ndata: 2\n\n",
      [
        { type: "comment", text: "heartbeat", offset: 0 },
        { type: "comment", text: "", offset: 21 },
        { type: "comment", text: " two", offset: 23 },
        event("1\n2", 13),
      ],
    ],
    [
      "Characters of one to four bytes are decoded",
      "data: é世🚀\nevent: ü\n: ß\n\n",
      [{ type: "comment", text: "ß", offset: 26 }, event("é世🚀", 0, { event: "ü" })],
    ],
    ["An empty stream produces no items", "", []],
    ["A stream of line ends produces no items", "\n\r\n\r", []],
  ])("%s", (_, stream, items) => {
    expect(decodeAllWays(createSseDecoder(), stream)).toEqual(items);
  });

  it("Bytes that are not valid UTF-8 become U+FFFD", () => {
    const bytes = Uint8Array.of(...utf8.encode("data: a"), 0xff, 0xe4, 0xb8, 0x62, 0x0a, 0x0a);
    expect(decodeAllWays(createSseDecoder(), bytes)).toEqual([event("a\uFFFD\uFFFDb", 0)]);
  });

  it("A partial byte order mark is text", () => {
    const bytes = Uint8Array.of(0xef, 0xbb, ...utf8.encode("data: 1\n\ndata: 2\n\n"));
    expect(decodeAllWays(createSseDecoder(), bytes)).toEqual([event("2", 11)]);
    expect(decodeAllWays(createSseDecoder(), Uint8Array.of(0xef, 0xbb))).toEqual([cutOff(0, 2)]);
  });

  it("An event is emitted at its CR, before a following LF arrives [AC-72]", () => {
    const decoder = createSseDecoder();
    const state = decoder.initial();
    const seen: unknown[][] = ["data: 1\r", "\n\r", "\ndata: 2\r\r", "\n\n"].map((text) => {
      const items: SseItem[] = [];
      decoder.step(state, utf8.encode(text), (item) => items.push(item));
      return items;
    });
    expect(seen).toEqual([[], [event("1", 0)], [event("2", 11)], []]);
  });

  it("A line end is found at every position of a chunk and every memory alignment", () => {
    for (let before = 0; before < 140; before++) {
      const stream = utf8.encode(`data: ${"x\t".repeat(200).slice(0, before)}\r\ndata: y\n\n`);
      for (let shift = 0; shift < 4; shift++) {
        const room = new Uint8Array(stream.length + shift);
        room.set(stream, shift);
        const [first] = runCodec(createSseDecoder(), [room.subarray(shift)]);
        expect(first).toMatchObject({ data: `${"x\t".repeat(200).slice(0, before)}\ny` });
      }
    }
  });
});

describe("The end of an event stream", () => {
  it.each(['{"a":[1]}', "[]", '"text"', '"{\\"a\\": "', "true", "false", "null", ' {"a":1} '])(
    "A last event without its blank line is emitted if its data is the complete value %s [AC-72]",
    (data) => {
      for (const end of ["", "\n", "\r", "\r\n"]) {
        expect(decodeAllWays(createSseDecoder(), `data: 0\n\ndata:${data}${end}`)).toEqual([
          event("0", 0),
          event(data.replace(/^ /, ""), 9),
        ]);
      }
    },
  );

  it.each(['{"a":[1]', '"te', "tru", "12", "-1.5e3", "", "plain text", "{'a': 1}", "{} {}"])(
    "A last event without its blank line is truncated if its data is %j",
    (data) => {
      const line = `data: ${data}`;
      expect(decodeAllWays(createSseDecoder(), `data: 0\n\n${line}`)).toEqual([
        event("0", 0),
        cutOff(9, line.length),
      ]);
      expect(decodeAllWays(createSseDecoder(), `${line}\n`)).toEqual([cutOff(0, line.length + 1)]);
    },
  );

  it("The data lines of a last event are joined before the completeness check", () => {
    expect(decodeAllWays(createSseDecoder(), "data: {\ndata: }")).toEqual([event("{\n}", 0)]);
    expect(decodeAllWays(createSseDecoder(), "data: {}\ndata: }")).toEqual([cutOff(0, 16)]);
  });

  it.each(["event: done", "event: done\n", "dat", ": heartb", "id: 1\r\n", "data: {}\nevent: err"])(
    "The remainder %j is reported as truncated",
    (rest) => {
      expect(decodeAllWays(createSseDecoder(), `data: 0\n\n${rest}`)).toEqual([
        event("0", 0),
        cutOff(9, rest.length),
      ]);
    },
  );

  it("A stream that ends after a blank line or a comment produces no failure", () => {
    expect(decodeAllWays(createSseDecoder(), "data: 0\r\n\r\n")).toEqual([event("0", 0)]);
    expect(decodeAllWays(createSseDecoder(), ": bye\n")).toEqual([
      { type: "comment", text: "bye", offset: 0 },
    ]);
  });
});

describe("Searching for line ends", () => {
  it("Each kind of line end is searched once per chunk, also if only one kind occurs", () => {
    const searches = vi.spyOn(Buffer.prototype, "indexOf");
    try {
      decode(createSseDecoder(), [utf8.encode("\r".repeat(1000))]);
      expect(searches.mock.calls.filter(([byte]) => byte === 0x0a)).toHaveLength(1);
    } finally {
      searches.mockRestore();
    }
  });
});

describe("The size limit of an event", () => {
  const tooLarge = (offset: number): unknown => ({
    type: "failure",
    code: "event_too_large",
    offset,
  });

  it("An event at the limit is read, an event above fails once, and the next event is read", () => {
    const options = { maxEventBytes: 20 };
    const stream = `data: ${"a".repeat(14)}\n\ndata: ${"b".repeat(15)}\nid: 1\n: c\n\ndata: c\n\n`;
    expect(decodeAllWays(createSseDecoder(options), stream)).toEqual([
      event("a".repeat(14), 0),
      tooLarge(22),
      event("c", 55),
    ]);
  });

  it("The limit counts all lines of an event together, without comments", () => {
    const options = { maxEventBytes: 20 };
    const comment = { type: "comment", text: "1234567", offset: 9 };
    expect(
      decodeAllWays(createSseDecoder(options), "event: a\n: 1234567\ndata: 123456\n\n"),
    ).toEqual([comment, event("123456", 0, { event: "a" })]);
    expect(
      decodeAllWays(createSseDecoder(options), "event: a\n: 1234567\ndata: 1234567\n\ndata: 1\n\n"),
    ).toEqual([comment, tooLarge(0), event("1", 34)]);
  });

  it("The limit applies to comments and unknown fields too", () => {
    const options = { maxEventBytes: 100 };
    for (const start of [":", "unknown: ", ""]) {
      const stream = `${start}${"x".repeat(101)}\ndata: dropped\r\n\r\ndata: 1\n\n`;
      expect(decodeAllWays(createSseDecoder(options), stream)).toEqual([
        tooLarge(0),
        event("1", start.length + 101 + 18),
      ]);
    }
  });

  it("The limit is checked while an event arrives, and at most the limit is buffered", () => {
    const decoder = createSseDecoder({ maxEventBytes: 1000 });
    const state = decoder.initial();
    const items: SseItem[] = [];
    for (const chunk of splitChunks(utf8.encode(`data: ${"x".repeat(5000)}`), 7)) {
      decoder.step(state, chunk, (item) => items.push(item));
      expect(state.line.pendingBytes.bytes.length).toBeLessThanOrEqual(1000);
      expect(items.length).toBe(state.offset > 1000 ? 1 : 0);
    }
    decoder.finish(state, (item) => items.push(item));
    expect(items.map(toPlain)).toEqual([tooLarge(0), cutOff(0, 5006)]);
  });

  it("An event has at most 16 MiB of data by default", () => {
    const data = "x".repeat(16 * 1024 * 1024);
    const chunks = splitChunks(utf8.encode(`data: ${data}\n\ndata: ${data}${data}\n\n`), 65_536);
    expect(runCodec(createSseDecoder(), chunks).map((item) => item.type)).toEqual([
      "event",
      "failure",
    ]);
  });

  it("The buffer of a long line is released", () => {
    const decoder = createSseDecoder();
    const state = decoder.initial();
    for (const chunk of splitChunks(utf8.encode(`data: ${"x".repeat(1_000_000)}\n\n`), 65_536)) {
      decoder.step(state, chunk, () => {});
    }
    expect(state.line.pendingBytes.bytes.length).toBe(0);
  });
});

describe("Skipping data lines", () => {
  const isNoise = (start: Uint8Array): boolean => start[0] === 0x22 && start[1] === 0x7b;
  const noise = `"{'data': 'x', 'agent': <strands.agent.Agent object at 0x7f>, ${"y".repeat(80)}}"`;

  it("A refused line is reported with its size, and the other events are emitted", () => {
    const stream = `data: 1\n\ndata: ${noise}\r\n\r\ndata: 2\n\ndata:"{x"\n\ndata: 3\n\n`;
    expect(decodeAllWays(createSseDecoder({ skip: isNoise }), stream)).toEqual([
      event("1", 0),
      { type: "skipped", bytes: noise.length + 6, offset: 9 },
      event("2", noise.length + 19),
      { type: "skipped", bytes: 9, offset: noise.length + 28 },
      event("3", noise.length + 39),
    ]);
  });

  it("An event with one refused line is skipped as a whole", () => {
    const stream = `id: 1\ndata: a\ndata: ${noise}\n: c\ndata: b\ndata: c\n\ndata: 2\n\n`;
    const end = 20 + noise.length;
    expect(
      decodeAllWays(createSseDecoder({ skip: isNoise }), `data: a\ndata: ${noise}\nid: 2\n\n`),
    ).toEqual([{ type: "skipped", bytes: end - 6, offset: 0 }]);
    expect(decodeAllWays(createSseDecoder({ skip: isNoise }), stream)).toEqual([
      { type: "skipped", bytes: end, offset: 0 },
      { type: "comment", text: "c", offset: end + 1 },
      { type: "skipped", bytes: 7, offset: end + 5 },
      { type: "skipped", bytes: 7, offset: end + 13 },
      event("2", end + 22),
    ]);
  });

  it("The skip callback runs once per data line with up to 64 bytes of its value, for every split", () => {
    const stream = utf8.encode(
      `data: ${"a".repeat(64)}b\ndata:${"c".repeat(70)}\n\nevent: x\ndata: short\n\ndata\n\n: data: no\n\n`,
    );
    const questions = (chunks: Iterable<Uint8Array>): string[] => {
      const searchedTexts: string[] = [];
      const skip = (start: Uint8Array): boolean => {
        searchedTexts.push(new TextDecoder().decode(start));
        return false;
      };
      decode(createSseDecoder({ skip }), chunks);
      return searchedTexts;
    };
    const expected = ["a".repeat(64), "c".repeat(64), "short", ""];
    expect(questions([stream])).toEqual(expected);
    expect(questions(splitChunks(stream, 1))).toEqual(expected);
    for (const halves of twoWaySplits(stream)) expect(questions(halves)).toEqual(expected);
  });

  it("The skip callback runs before the line has ended", () => {
    const skip = vi.fn<(start: Uint8Array) => boolean>(() => true);
    const decoder = createSseDecoder({ skip });
    const state = decoder.initial();
    decoder.step(state, utf8.encode(`data: ${"x".repeat(64)}`), () => {});
    expect(skip).toHaveBeenCalledTimes(1);
  });

  it("A refused line of 100 MB is neither buffered nor decoded, for every chunk size [AC-75]", () => {
    const decodeText = vi.spyOn(TextDecoder.prototype, "decode");
    try {
      const block = new Uint8Array(1_000_000).fill(0x79);
      for (const size of [10_007, 65_536, 1_000_000]) {
        const decoder = createSseDecoder({ skip: isNoise, maxEventBytes: 1000 });
        const state = decoder.initial();
        const items: SseItem[] = [];
        const step = (chunk: Uint8Array): void => {
          decoder.step(state, chunk, (item) => items.push(item));
          expect(heldBytes(state)).toBeLessThanOrEqual(256);
        };
        step(utf8.encode(`data: "{'`));
        for (const chunk of Array.from({ length: 100 }, () => splitChunks(block, size)).flat()) {
          step(chunk);
        }
        step(utf8.encode("\n\n"));
        decoder.finish(state, (item) => items.push(item));
        expect(items).toEqual([{ type: "skipped", bytes: 100_000_009, offset: 0 }]);
      }
      expect(decodeText).not.toHaveBeenCalled();
    } finally {
      decodeText.mockRestore();
    }
  });

  it("A stream that ends inside a refused line is truncated", () => {
    const stream = `data: 1\n\ndata: ${noise}`;
    expect(decodeAllWays(createSseDecoder({ skip: isNoise }), stream)).toEqual([
      event("1", 0),
      cutOff(9, noise.length + 6),
    ]);
  });

  it("A refused line at the end needs no blank line", () => {
    expect(decodeAllWays(createSseDecoder({ skip: isNoise }), `data: ${noise}\n`)).toEqual([
      { type: "skipped", bytes: noise.length + 6, offset: 0 },
    ]);
    expect(decodeAllWays(createSseDecoder({ skip: isNoise }), `data: "{x}"`)).toEqual([
      { type: "skipped", bytes: 11, offset: 0 },
    ]);
  });
});

describe("Arbitrary input", () => {
  it("Any stream is read as by a direct implementation of the standard", () => {
    const token = fc.constantFrom(
      "\n",
      "\n",
      "\n\n",
      "\r",
      "\r\n",
      ":",
      " ",
      "\0",
      "\t",
      "x",
      "x".repeat(80),
      "data",
      "data:",
      "data: ",
      "data: 1",
      "event: ",
      "id: ",
      "retry: 12",
      ": c",
      '{"a":1}',
      "{",
      '"',
      "é",
      "世",
      "🚀",
      "\u2028",
      "\u0085",
      "\uFEFF",
    );
    const text = fc.array(token, { maxLength: 40 }).map((tokens) => tokens.join(""));
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 90 }), (stream, size) => {
        expect(decode(createSseDecoder(), splitChunks(utf8.encode(stream), size))).toEqual(
          plainReading(stream),
        );
      }),
      { numRuns: runs(5000) },
    );
  });

  it("Random input never throws, buffers at most the limit, and yields the same items for every split", () => {
    const skip = (start: Uint8Array): boolean => start[0] === 0x22;
    const streams = [
      "\uFEFFevent: a\r\nid: 1\r\ndata: {\r\ndata: }\r\n\r\n: keep\r\rdata: é世🚀\n\n",
      `data: {"a":1}\n\ndata: "{'repr': ${"y".repeat(70)}"\n\ndata: "z"\nretry: 5\ndata: 2\n\ndata: [3]`,
      `data: ${"x".repeat(60)}\ndata: ${"x".repeat(90)}\n\ndata: ok\n\n`,
    ].map((text) => utf8.encode(text));
    const check = (random: (below: number) => number): void => {
      const bytes = mutateBytes(streams[random(3)] ?? utf8.encode(""), random);
      const maxEventBytes = [20, 75, 100, 10_000][random(4)] ?? 0;
      const options = random(2) === 0 ? { maxEventBytes, skip } : { maxEventBytes };
      const whole = decodeChecked(createSseDecoder(options), [bytes], checkHeld);
      const split = decodeChecked(
        createSseDecoder(options),
        splitRandomly(bytes, random),
        checkHeld,
      );
      if (whole !== split) throw new Error(`unlike when split: ${whole} | ${split}`);
    };
    expect(() => fuzz(100_000, check)).not.toThrow();
  });
});

function checkHeld(state: SseState): void {
  const pendingSize = heldBytes(state);
  if (pendingSize > state.maxEventBytes) throw new Error(`holds ${pendingSize} bytes`);
}

function heldBytes({ line, event }: SseState): number {
  const { data = "", id = "", name } = event;
  return Math.max(
    line.pendingBytes.bytes.length,
    line.pendingBytes.length + data.length + id.length + name.length,
  );
}

/** An independent implementation for comparison: the whole stream as a string, with regular expressions. */
function plainReading(stream: string): unknown[] {
  const items: unknown[] = [];
  let fields: Field[] = [];
  const size = utf8.encode(stream).length;
  for (const { text, offset, isLast } of linesOf(stream)) {
    const isRest = isLast && text !== "";
    const isComment = text.startsWith(":");
    if (text !== "" && (isRest || !isComment)) fields.push(fieldOf(text, offset));
    if (isLast && fields.length > 0) {
      const whole = isWholeValue(dataOf(fields)) && (!isRest || /^data(:|$)/.test(text));
      const start = fields[0]?.offset ?? 0;
      items.push(...(whole ? eventOf(fields) : [cutOff(start, size - start)]));
    } else if (text === "") {
      items.push(...eventOf(fields));
      fields = [];
    } else if (isComment) {
      items.push({ type: "comment", text: text.replace(/^: ?/, ""), offset });
    }
  }
  return items;
}

interface Field {
  readonly name: string;
  readonly value: string;
  readonly offset: number;
}

function linesOf(stream: string): { text: string; offset: number; isLast: boolean }[] {
  const ends = [...stream.matchAll(/\r\n|\r|\n/g)];
  const starts = [
    stream.startsWith("\uFEFF") ? 1 : 0,
    ...ends.map((end) => end.index + end[0].length),
  ];
  return starts.map((start, index) => ({
    text: stream.slice(start, ends[index]?.index),
    offset: utf8.encode(stream.slice(0, start)).length,
    isLast: index === ends.length,
  }));
}

function fieldOf(text: string, offset: number): Field {
  const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/su.exec(text) ?? [];
  return { name, value, offset };
}

function eventOf(fields: readonly Field[]): unknown[] {
  const data = dataOf(fields);
  const last = (name: string, allowed: RegExp): string | undefined =>
    fields.findLast((field) => field.name === name && allowed.test(field.value))?.value;
  const id = last("id", /^[^\0]*$/);
  const retry = last("retry", /^\d{1,15}$/);
  const more = {
    ...(id === undefined ? {} : { id }),
    ...(retry === undefined ? {} : { retry: Number(retry) }),
  };
  const name = last("event", /^/) ?? "";
  return data === undefined ? [] : [event(data, fields[0]?.offset ?? 0, { event: name, ...more })];
}

function dataOf(fields: readonly Field[]): string | undefined {
  const data = fields.filter((field) => field.name === "data");
  return data.length === 0 ? undefined : data.map((field) => field.value).join("\n");
}

function isWholeValue(data = ""): boolean {
  try {
    return typeof JSON.parse(data) !== "number";
  } catch {
    return false;
  }
}
