import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasInexactInteger, jsonText, MAX_JSON_DEPTH, parseJson } from "./json.ts";

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
    expect([jsonText({ a: [1, null] }), jsonText(undefined)]).toEqual(['{"a":[1,null]}', "null"]);
    expect(JSON.parse(jsonText(10n))).toMatch(/^\[no JSON form: /);
  });
});
