import { describe, expect, it } from "vitest";
import { fuzz } from "../../../../test/support/bytes/bytes.ts";
import { MAX_JSON_VALUES } from "../../../data/json.ts";
import { isCutJson, parseLenientJson } from "./lenient-json.ts";
import { allowLongTests } from "../../../../test/support/test-depth.ts";

allowLongTests();

function valueOf(text: string, bigIntegers?: "string" | "bigint"): unknown {
  const parsed = parseLenientJson(text, bigIntegers === undefined ? {} : { bigIntegers });
  return parsed.ok ? parsed.value : undefined;
}

describe("Lenient JSON", () => {
  it("NaN and Infinity are read as Python writes them [AC-82]", () => {
    expect(valueOf('{"a": NaN, "b": [Infinity, -Infinity], "c": "NaN"}')).toEqual({
      a: NaN,
      b: [Infinity, -Infinity],
      c: "NaN",
    });
  });

  it("Integers above 2^53 are kept as strings or as bigint [AC-82]", () => {
    const text =
      '{"big": 9223372036854775807, "low": -9223372036854775808, "safe": 9007199254740991}';
    expect(valueOf(text)).toEqual({
      big: "9223372036854775807",
      low: "-9223372036854775808",
      safe: 9007199254740991,
    });
    expect(valueOf(text, "bigint")).toEqual({
      big: 9223372036854775807n,
      low: -9223372036854775808n,
      safe: 9007199254740991,
    });
  });

  it("Digits in strings and fractions are not changed [AC-82]", () => {
    expect(valueOf('{"id": "9223372036854775807", "x": 0.1234567890123456, "y": 1e300}')).toEqual({
      id: "9223372036854775807",
      x: 0.1234567890123456,
      y: 1e300,
    });
  });

  it("The last of two equal keys wins [AC-82]", () => {
    expect(valueOf('{"a": 1, "a": 2}')).toEqual({ a: 2 });
    expect(valueOf('{"a": NaN, "a": 2}')).toEqual({ a: 2 });
  });

  it("__proto__ is an ordinary key [AC-42, AC-82]", () => {
    const value = valueOf('{"__proto__": {"polluted": true}, "n": NaN}');
    expect(Object.keys(value as object)).toEqual(["__proto__", "n"]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it("Text that is invalid for both parsers is refused", () => {
    for (const text of [
      "NaN x",
      "[NaN,]",
      '{"a" NaN}',
      "{a: NaN}",
      "[NaN",
      '{"a": NaN',
      "[01234567890123456]",
      "1234567890123456.",
      '["NaN',
      "-NaN",
      "",
      "{",
    ]) {
      expect(parseLenientJson(text).ok, text).toBe(false);
    }
  });

  it("Nesting that would overflow a later reader is refused", () => {
    expect(parseLenientJson(`[NaN, ${"[".repeat(100_000)}`).ok).toBe(false);
    expect(parseLenientJson("[".repeat(100_000)).ok).toBe(false);
    expect(valueOf(`${"[".repeat(500)}NaN${"]".repeat(500)}`)).toBeDefined();
  });

  it("All input accepted by JSON.parse yields the same value", () => {
    const pieces = [
      '"a"',
      '"\\u00e9"',
      "1",
      "-2.5e3",
      "true",
      "null",
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
    ];
    fuzz(20_000, (random) => {
      // The long number disables the native parser for this text.
      let text = "[12345678901234567890,";
      for (let count = random(12); count > 0; count--) text += pieces[random(pieces.length)] ?? "";
      text += "1]";
      const native = safely(() => JSON.parse(text) as unknown[]);
      const ours = parseLenientJson(text);
      if (ours.ok !== (native !== undefined)) throw new Error(`Verdicts differ on ${text}`);
      if (native === undefined || !ours.ok) return;
      const rest = JSON.stringify((ours.value as unknown[]).slice(1));
      if (rest !== JSON.stringify(native.slice(1))) throw new Error(`Values differ on ${text}`);
    });
    expect(valueOf("[12345678901234567890, 1]")).toEqual(["12345678901234567890", 1]);
  });
});

describe("Truncated JSON", () => {
  it("Truncated JSON is distinguished from other text", () => {
    const whole = '{"a": [1, -2.5, "x\\"y", true], "b": {"c": NaN}} ';
    for (let end = 1; end < whole.length - 1; end++) {
      expect(isCutJson(whole.slice(0, end)), whole.slice(0, end)).toBe(true);
    }
    const others = [
      "",
      " ",
      "tru",
      whole,
      "[Note] it",
      '"Quoted" text',
      "{'a': 1}",
      "[1] See",
      "{a",
    ];
    for (const text of others) expect(isCutJson(text), text).toBe(false);
  });
});

function safely<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

it("More than the maximum number of values is refused also without the native parser", () => {
  const text = `[NaN${",[]".repeat(MAX_JSON_VALUES)}]`;
  const reason = `More than ${MAX_JSON_VALUES} values`;
  expect(parseLenientJson(text)).toEqual({ ok: false, reason });
});
