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
import { createJsonArrayDecoder, type JsonArrayItem, type JsonArrayState } from "./json-array.ts";
import { allowLongTests, runs } from "../../../test/support/test-depth.ts";

allowLongTests();

const utf8 = new TextEncoder();

function element(text: string, offset: number): unknown {
  return { type: "element", text, offset };
}

function invalid(offset: number): unknown {
  return { type: "failure", code: "frame_invalid", offset };
}

function cutOff(offset: number, pendingBytes = 0): unknown {
  return { type: "failure", code: "truncated_stream", offset, pendingBytes };
}

function tooLarge(offset: number): unknown {
  return { type: "failure", code: "event_too_large", offset };
}

describe("Splitting a JSON array", () => {
  it.each<[fact: string, input: string, items: unknown[]]>([
    [
      "Each element becomes one item",
      '[{"a":1},{"b":2}]',
      [element('{"a":1}', 1), element('{"b":2}', 9)],
    ],
    [
      "A pretty-printed element keeps its inner whitespace",
      '[\n  {\r\n\t"a": [1, 2]\n  },\n  {}\n]\n',
      [element('{\r\n\t"a": [1, 2]\n  }', 4), element("{}", 27)],
    ],
    [
      "Values of every JSON type are elements",
      '["a", 12,-1.5e3 ,true\n,null,[1,[2]],{}]',
      [
        element('"a"', 1),
        element("12", 6),
        element("-1.5e3", 9),
        element("true", 17),
        element("null", 23),
        element("[1,[2]]", 28),
        element("{}", 36),
      ],
    ],
    [
      "Brackets, commas and escaped quotes in strings are text",
      '["]", "\\"],[", "\\\\", {"}": "{[,\\\\\\""}]',
      [
        element('"]"', 1),
        element('"\\"],["', 6),
        element('"\\\\"', 15),
        element('{"}": "{[,\\\\\\""}', 21),
      ],
    ],
    [
      "Characters of one to four bytes are decoded",
      '["é世🚀",1]',
      [element('"é世🚀"', 1), element("1", 13)],
    ],
    ["An empty array produces no items", "\t\r\n [\t\r\n ]\t\r\n ", []],
    ["A byte order mark at the start is skipped", "\uFEFF[1]", [element("1", 4)]],
    ["An element is not validated", '[{]},x"y"]', [element("{]", 1), invalid(3)]],
    ["An input that is not an array is rejected", ' {"a":1}', [invalid(1)]],
    ["Content after the array is rejected", "[1]\n[2]", [element("1", 1), invalid(4)]],
    ["A comma after the array is rejected", "[1],", [element("1", 1), invalid(3)]],
    [
      "Content other than a comma between elements is rejected",
      "[{} x, {}]",
      [element("{}", 1), invalid(4)],
    ],
    [
      "Elements without a comma between them are rejected",
      '["a""b"]',
      [element('"a"', 1), invalid(4)],
    ],
    ["A comma before the first element is rejected", "[,1]", [invalid(1)]],
    ["A comma after the last element is rejected", "[1,]", [element("1", 1), invalid(3)]],
    ["Two commas in a row are rejected", "[1,,2]", [element("1", 1), invalid(3)]],
    ["A stray closing brace is rejected", "[1}]", [element("1", 1), invalid(2)]],
    ["A byte order mark after the start is rejected", "[1]\uFEFF", [element("1", 1), invalid(3)]],
    ["An empty input is truncated", "", [cutOff(0)]],
    ["An array without an end is truncated", "[", [cutOff(1)]],
    ["An array that ends after an element is truncated", "[{} ", [element("{}", 1), cutOff(4)]],
    ["An array that ends after a comma is truncated", "[{}, ", [element("{}", 1), cutOff(5)]],
    [
      "An array that ends inside an element is truncated",
      '[1, {"a": [',
      [element("1", 1), cutOff(4, 7)],
    ],
    ["An array that ends inside a string is truncated", '["a\\"', [cutOff(1, 4)]],
    [
      "An array that ends after a number is truncated, because the number may continue",
      "[12",
      [cutOff(1, 2)],
    ],
  ])("%s", (_, input, items) => {
    expect(decodeAllWays(createJsonArrayDecoder(), input)).toEqual(items);
  });

  it("An element above the limit produces one failure, and the next element is read", () => {
    const input = `["${"a".repeat(8)}", "${"b".repeat(9)}", {"c": [${"1,".repeat(90)}1]}, 2]`;
    expect(decodeAllWays(createJsonArrayDecoder({ maxElementBytes: 10 }), input)).toEqual([
      element('"aaaaaaaa"', 1),
      tooLarge(13),
      tooLarge(26),
      element("2", 218),
    ]);
  });

  it("An element above the limit fails before its end arrives, and its bytes are discarded", () => {
    const decoder = createJsonArrayDecoder({ maxElementBytes: 1000 });
    const state = decoder.initial();
    const items: JsonArrayItem[] = [];
    for (const chunk of splitChunks(utf8.encode(`["${"x".repeat(50_000)}`), 99)) {
      decoder.step(state, chunk, (item) => items.push(item));
      expect(state.element.pendingBytes.bytes.length).toBeLessThanOrEqual(1000);
      expect(items.length).toBe(state.offset > 1001 ? 1 : 0);
    }
    decoder.finish(state, (item) => items.push(item));
    expect(items.map((item) => item.type === "failure" && item.error.code)).toEqual([
      "event_too_large",
      "truncated_stream",
    ]);
  });

  it("Every array written by JSON.stringify, compact or pretty-printed, is read back", () => {
    const layout = fc.constantFrom(undefined, 2, "\t");
    const values = fc.array(fc.jsonValue(), { maxLength: 8 });
    fc.assert(
      fc.property(values, layout, fc.integer({ min: 1, max: 50 }), (array, space, size) => {
        const bytes = utf8.encode(JSON.stringify(array, undefined, space));
        const items = runCodec(createJsonArrayDecoder(), splitChunks(bytes, size));
        const read = items.map((item): unknown => item.type === "element" && JSON.parse(item.text));
        // JSON.stringify writes -0 as 0.
        expect(read).toEqual(JSON.parse(JSON.stringify(array)));
      }),
      { numRuns: runs(3000) },
    );
  });

  it("Random input never throws, buffers at most the limit, and yields the same items for every split", () => {
    const inputs = [
      '\uFEFF[\r\n  {"a": "é世🚀\\"]"},\n  [1, [2], {}],\n  "x\\\\", 12, true\n]\n',
      `[{"a":"${"x".repeat(60)}"},{"b":[${"1,".repeat(60)}{}]},null]`,
    ].map((text) => utf8.encode(text));
    const check = (random: (below: number) => number): void => {
      const bytes = mutateBytes(inputs[random(2)] ?? new Uint8Array(0), random);
      const options = { maxElementBytes: [5, 60, 10_000][random(3)] ?? 0 };
      const whole = decodeChecked(createJsonArrayDecoder(options), [bytes], checkHeld);
      const split = decodeChecked(
        createJsonArrayDecoder(options),
        splitRandomly(bytes, random),
        checkHeld,
      );
      if (whole !== split) throw new Error(`unlike when split: ${whole} | ${split}`);
    };
    expect(() => fuzz(100_000, check)).not.toThrow();
  });
});

function checkHeld({ element, maxElementBytes }: JsonArrayState): void {
  const pendingSize = element.pendingBytes.bytes.length;
  if (pendingSize > maxElementBytes) throw new Error(`holds ${pendingSize} bytes`);
}
