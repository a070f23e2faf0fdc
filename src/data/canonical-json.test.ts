import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toCanonicalJson } from "./canonical-json.ts";
import { runs } from "../../test/support/test-depth.ts";

describe("Canonical JSON", () => {
  it("Canonical JSON has sorted keys and no spaces [SD-28]", () => {
    expect(
      toCanonicalJson({ b: [1, { d: true, c: "x y" }], a: null, "": {}, "10": [], "9": 1.5 }),
    ).toBe('{"":{},"10":[],"9":1.5,"a":null,"b":[1,{"c":"x y","d":true}]}');
  });

  it("Canonical JSON parses to the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        expect(JSON.parse(toCanonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: runs(2000) },
    );
  });

  it("A __proto__ key is encoded like any other key", () => {
    expect(toCanonicalJson(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
  });

  it("Values nested deeper than the call stack allows are encoded", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(toCanonicalJson(JSON.parse(deep))).toBe(deep);
  });

  it("Values without a JSON form are encoded as null", () => {
    expect(toCanonicalJson([undefined, Number.NaN, () => 1])).toBe("[null,null,null]");
    expect(toCanonicalJson({ gone: undefined, kept: 1n })).toBe('{"kept":1}');
  });
});
