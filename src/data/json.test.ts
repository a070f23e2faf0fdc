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

describe("the door for JSON", () => {
  it("gives what JSON.parse gives, and a reason where that throws", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
    expect(parseJson("{")).toMatchObject({ ok: false, reason: expect.any(String) });
  });

  it("refuses nesting beyond its limit, and only that", () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    expect(parseJson(nested(MAX_JSON_DEPTH))).toMatchObject({ ok: true });
    expect(parseJson(nested(MAX_JSON_DEPTH + 1))).toMatchObject({ ok: false });
    expect(parseJson(nested(1_000_000))).toMatchObject({ ok: false });
    const brackets = JSON.stringify("[{".repeat(5000));
    expect(parseJson(brackets)).toMatchObject({ ok: true });
    expect(parseJson(`[${"[],".repeat(5000)}1]`)).toMatchObject({ ok: true });
  });

  it("refuses more values than its limit, and only that", () => {
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

  it("gives a reason that does not keep the text alive", () => {
    const text = `["${"a".repeat(1_000_000)}", @@@@ ${"b".repeat(1_000_000)}]`;
    const kept = measureRetainedBytes(() =>
      Array.from({ length: 10 }, () => parseJson(Buffer.from(text).toString("latin1"))),
    );
    expect(kept).toBeLessThan(5_000_000);
  });
});

describe("numbers that a double cannot hold", () => {
  it.each([
    ['{"n":12345678901234567890}', true],
    ["[-9007199254740993]", true],
    ["[9007199254740991,-9007199254740992]", false],
    ['{"s":"12345678901234567890"}', false],
    ['{"s":"a\\"12345678901234567890"}', false],
    ["[1.2345678901234567890, 1e400, 12345678901234567890.5]", false],
    ["[1]", false],
  ])("are found in %s: %s", (text, found) => {
    expect(hasInexactInteger(text)).toBe(found);
  });
});

describe("a value as JSON text", () => {
  it("is what JSON.stringify writes, or a note where it cannot", () => {
    expect([toJsonText({ a: [1, null] }), toJsonText(undefined)]).toEqual([
      '{"a":[1,null]}',
      "null",
    ]);
    expect(JSON.parse(toJsonText(10n))).toMatch(/^\[no JSON form: /);
  });
});
