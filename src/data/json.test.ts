import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { measureRetainedBytes } from "../../test/support/memory-usage.ts";
import {
  hasInexactInteger,
  toJsonText,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
  parseJson,
} from "./json.ts";

describe("parseJson", () => {
  it("parseJson returns the result of JSON.parse, and a reason if parsing fails", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
    expect(parseJson("{")).toMatchObject({ ok: false, reason: expect.any(String) });
  });

  it("Nesting beyond the limit is refused, and brackets inside strings do not count", () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    expect(parseJson(nested(MAX_JSON_DEPTH))).toMatchObject({ ok: true });
    expect(parseJson(nested(MAX_JSON_DEPTH + 1))).toMatchObject({ ok: false });
    expect(parseJson(nested(1_000_000))).toMatchObject({ ok: false });
    const brackets = JSON.stringify("[{".repeat(5000));
    expect(parseJson(brackets)).toMatchObject({ ok: true });
    expect(parseJson(`[${"[],".repeat(5000)}1]`)).toMatchObject({ ok: true });
  });

  it("More values than the limit are refused, and commas inside strings do not count", () => {
    const zeros = (count: number): string => `[${"0, ".repeat(count - 2)}0]`;
    expect(parseJson(zeros(MAX_JSON_VALUES))).toMatchObject({ ok: true });
    expect(parseJson(JSON.stringify(zeros(MAX_JSON_VALUES)))).toMatchObject({ ok: true });
    const reason = "More than 4000000 values";
    for (const text of [
      zeros(MAX_JSON_VALUES + 1),
      `[${"{},".repeat(MAX_JSON_VALUES)}{}]`,
      `{"a":[${"[],".repeat(MAX_JSON_VALUES)}[]]}`,
      `{${'"":0,'.repeat(MAX_JSON_VALUES)}"":0}`,
    ]) {
      expect(parseJson(text)).toEqual({ ok: false, reason, exceedsLimit: true });
    }
  });

  it("The reason of a failure does not keep the parsed text in memory", () => {
    const text = `["${"a".repeat(1_000_000)}", @@@@ ${"b".repeat(1_000_000)}]`;
    const retainedBytes = measureRetainedBytes(() =>
      Array.from({ length: 10 }, () => parseJson(Buffer.from(text).toString("latin1"))),
    );
    expect(retainedBytes).toBeLessThan(5_000_000);
  });
});

describe("hasInexactInteger", () => {
  it.each([
    ['{"n":12345678901234567890}', true],
    ["[-9007199254740993]", true],
    ["[9007199254740991,-9007199254740992]", false],
    ['{"s":"12345678901234567890"}', false],
    ['{"s":"a\\"12345678901234567890"}', false],
    ["[1.2345678901234567890, 1e400, 12345678901234567890.5]", false],
    ["[1]", false],
  ])("An integer without an exact double is found in %s: %s", (text, found) => {
    expect(hasInexactInteger(text)).toBe(found);
  });
});

describe("toJsonText", () => {
  it("toJsonText returns the result of JSON.stringify, or a note for a value without a JSON form", () => {
    expect([toJsonText({ a: [1, null] }), toJsonText(undefined)]).toEqual([
      '{"a":[1,null]}',
      "null",
    ]);
    expect(JSON.parse(toJsonText(10n))).toMatch(/^\[no JSON form: /);
  });
});
