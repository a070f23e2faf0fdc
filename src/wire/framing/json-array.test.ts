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

describe("taking a JSON array apart", () => {
  it.each<[fact: string, input: string, items: unknown[]]>([
    [
      "gives one item per element",
      '[{"a":1},{"b":2}]',
      [element('{"a":1}', 1), element('{"b":2}', 9)],
    ],
    [
      "keeps the inner layout of a pretty-printed element",
      '[\n  {\r\n\t"a": [1, 2]\n  },\n  {}\n]\n',
      [element('{\r\n\t"a": [1, 2]\n  }', 4), element("{}", 27)],
    ],
    [
      "gives values of every kind",
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
      "takes brackets, commas and escaped quotes in strings for text",
      '["]", "\\"],[", "\\\\", {"}": "{[,\\\\\\""}]',
      [
        element('"]"', 1),
        element('"\\"],["', 6),
        element('"\\\\"', 15),
        element('{"}": "{[,\\\\\\""}', 21),
      ],
    ],
    ["reads characters of every length", '["é世🚀",1]', [element('"é世🚀"', 1), element("1", 13)]],
    ["gives nothing for an empty array", "\t\r\n [\t\r\n ]\t\r\n ", []],
    ["passes over a byte order mark at the start", "\uFEFF[1]", [element("1", 4)]],
    [
      "leaves the validity of an element to its reader",
      '[{]},x"y"]',
      [element("{]", 1), invalid(3)],
    ],
    ["rejects an input that is no array", ' {"a":1}', [invalid(1)]],
    ["rejects anything after the array", "[1]\n[2]", [element("1", 1), invalid(4)]],
    ["rejects a comma after the array", "[1],", [element("1", 1), invalid(3)]],
    ["rejects anything but a comma between elements", "[{} x, {}]", [element("{}", 1), invalid(4)]],
    ["rejects elements without a comma between them", '["a""b"]', [element('"a"', 1), invalid(4)]],
    ["rejects a comma before the first element", "[,1]", [invalid(1)]],
    ["rejects a comma after the last element", "[1,]", [element("1", 1), invalid(3)]],
    ["rejects two commas in a row", "[1,,2]", [element("1", 1), invalid(3)]],
    ["rejects a stray closing brace", "[1}]", [element("1", 1), invalid(2)]],
    ["rejects a byte order mark after the start", "[1]\uFEFF", [element("1", 1), invalid(3)]],
    ["calls an empty input cut off", "", [cutOff(0)]],
    ["calls an array without an end cut off", "[", [cutOff(1)]],
    ["calls an array cut off after an element", "[{} ", [element("{}", 1), cutOff(4)]],
    ["calls an array cut off after a comma", "[{}, ", [element("{}", 1), cutOff(5)]],
    ["calls an array cut off inside an element", '[1, {"a": [', [element("1", 1), cutOff(4, 7)]],
    ["calls an array cut off inside a string", '["a\\"', [cutOff(1, 4)]],
    ["calls an array cut off after a number, which may go on", "[12", [cutOff(1, 2)]],
  ])("%s", (_, input, items) => {
    expect(decodeAllWays(createJsonArrayDecoder(), input)).toEqual(items);
  });

  it("fails once for an element beyond the limit, and gives the next", () => {
    const input = `["${"a".repeat(8)}", "${"b".repeat(9)}", {"c": [${"1,".repeat(90)}1]}, 2]`;
    expect(decodeAllWays(createJsonArrayDecoder({ maxElementBytes: 10 }), input)).toEqual([
      element('"aaaaaaaa"', 1),
      tooLarge(13),
      tooLarge(26),
      element("2", 218),
    ]);
  });

  it("fails before such an element has ended, and keeps nothing of it", () => {
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

  it("gives back every array that JSON can write, compact or pretty-printed", () => {
    const layout = fc.constantFrom(undefined, 2, "\t");
    const values = fc.array(fc.jsonValue(), { maxLength: 8 });
    fc.assert(
      fc.property(values, layout, fc.integer({ min: 1, max: 50 }), (array, space, size) => {
        const bytes = utf8.encode(JSON.stringify(array, undefined, space));
        const items = runCodec(createJsonArrayDecoder(), splitChunks(bytes, size));
        const read = items.map((item): unknown => item.type === "element" && JSON.parse(item.text));
        // -0 is written as 0.
        expect(read).toEqual(JSON.parse(JSON.stringify(array)));
      }),
      { numRuns: runs(3000) },
    );
  });

  it("never throws, keeps no more than its limit, and gives the same items however it is cut", () => {
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
  const held = element.pendingBytes.bytes.length;
  if (held > maxElementBytes) throw new Error(`holds ${held} bytes`);
}
