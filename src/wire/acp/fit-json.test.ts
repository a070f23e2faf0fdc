import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isObject } from "../../data/json.ts";
import { takeFitting, fits, fitValue, fitObject, fitText, splitText } from "./fit-json.ts";

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

const anyText = fc.string({ unit: "binary", maxLength: 3000 });

describe("JSON size limits", () => {
  it("A limit counts UTF-8 bytes of JSON, not characters", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(200), (value, bytes) => {
        expect(fits(value, bytes)).toBe(bytesOf(value) <= bytes);
      }),
    );
    expect(fits("ü".repeat(10), 21)).toBe(false);
    expect(fits("ü".repeat(10), 22)).toBe(true);
  });

  it("A text over the limit loses its middle and states how much is missing [ACP-15]", () => {
    expect(fitText("short", 100)).toBe("short");
    const cut = fitText(`begin${"x".repeat(5000)}end`, 500);
    expect(cut).toMatch(/^begin.*\n… \d+ characters are not shown …\n.*end$/s);
    fc.assert(
      fc.property(anyText, fc.integer({ min: 200, max: 4000 }), (text, bytes) => {
        const fittedText = fitText(text, bytes);
        expect(bytesOf(fittedText)).toBeLessThanOrEqual(bytes);
        expect(fittedText.isWellFormed() || !text.isWellFormed()).toBe(true);
      }),
    );
  });

  it("Any JSON value is shortened to the limit [ACP-15]", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        const many = [value, { text: "y".repeat(20_000), list: Array(500).fill(value) }];
        expect(bytesOf(fitValue(many, 1000))).toBeLessThanOrEqual(1000);
      }),
    );
    const written = { path: "a.ts", content: "z".repeat(100_000) };
    expect(fitValue(written, 10_000)).toMatchObject({ path: "a.ts" });
    expect(fitValue(JSON.parse('{"__proto__":{"a":1}}'), 1000)).toEqual(
      JSON.parse('{"__proto__":{"a":1}}'),
    );
    const deep = JSON.parse(`${'{"a":'.repeat(400)}1${"}".repeat(400)}`);
    expect(isObject(fitObject(deep, 100))).toBe(true);
  });

  it("A list over the limit keeps as many first items as fit [ACP-15]", () => {
    fc.assert(
      fc.property(fc.array(anyText), fc.integer({ min: 2, max: 5000 }), (items, bytes) => {
        const first = takeFitting(items, bytes);
        expect(bytesOf(first)).toBeLessThanOrEqual(bytes);
        expect(items.slice(0, first.length)).toEqual(first);
      }),
    );
  });

  it("Splitting a text never cuts a character in half", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 2, max: 9 }), (text, most) => {
        const parts = [...splitText(text, most)];
        expect(parts.join("")).toBe(text);
        expect(parts.every((part) => part.length <= most && part.isWellFormed())).toBe(true);
      }),
    );
  });
});
