import { describe, expect, it } from "vitest";
import { readUntrustedSchema, createUntrustedCheck } from "./untrusted-schema.ts";

describe("a schema of somebody else's", () => {
  it("says nothing that is not seen, and compares what it compared", () => {
    const hidden = "a\u202eb";
    const given = {
      type: "object",
      description: hidden,
      properties: {
        description: { title: hidden, enum: [hidden], default: hidden, pattern: hidden },
        list: { anyOf: [{ description: hidden }, true] },
      },
    };
    expect(readUntrustedSchema(given)).toEqual({
      schema: {
        type: "object",
        description: "ab",
        properties: {
          description: { title: "ab", enum: [hidden], default: hidden, pattern: hidden },
          list: { anyOf: [{ description: "ab" }, true] },
        },
      },
    });
  });

  it("keeps a key named __proto__ as data", () => {
    const given: unknown = JSON.parse('{"properties":{"__proto__":{"type":"string"}}}');
    const { schema } = readUntrustedSchema(given);
    expect(JSON.stringify(schema)).toBe(JSON.stringify(given));
  });

  it("may be of an older draft, where a list of items is a tuple", () => {
    const pair = { type: "array", items: [{ type: "string" }, { type: "number" }] };
    const older = { $schema: "http://json-schema.org/draft-07/schema#", properties: { pair } };
    expect(readUntrustedSchema(older).problem).toBe(undefined);
    const check = createUntrustedCheck(older);
    expect([check({ pair: ["a", 1] }), check({ pair: ["a", "b"] })]).toEqual([
      undefined,
      "pair.1 must be number",
    ]);
    expect(readUntrustedSchema({ properties: { pair } }).problem).toMatch(
      /items must be object,boolean/,
    );
  });

  it("never lets anything through for now", () => {
    const check = createUntrustedCheck({ $async: true, type: "object", required: ["a"] });
    expect(check({})).toBe("the arguments must have required property 'a'");
  });

  it("is no reason to hang: values that are compared with each other", () => {
    const check = createUntrustedCheck({ properties: { list: { uniqueItems: true } } });
    const list = Array.from({ length: 100_000 }, (_, at) => ({ at }));
    expect(check({ list })).toBe("its schema cannot be used: It takes longer than 500 ms");
    expect(check({ list: [1, 1] })).toMatch(/must NOT have duplicate items/);
  });
});
