import { describe, expect, it } from "vitest";
import { readUntrustedSchema, createUntrustedCheck } from "./untrusted-schema.ts";

describe("Untrusted schemas", () => {
  it("Hidden characters are removed from texts, and compared values stay unchanged", () => {
    const hidden = "a\u202eb";
    const untrustedSchema = {
      type: "object",
      description: hidden,
      properties: {
        description: { title: hidden, enum: [hidden], default: hidden, pattern: hidden },
        list: { anyOf: [{ description: hidden }, true] },
      },
    };
    expect(readUntrustedSchema(untrustedSchema)).toEqual({
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

  it("A key named __proto__ stays data", () => {
    const untrustedSchema: unknown = JSON.parse('{"properties":{"__proto__":{"type":"string"}}}');
    const { schema } = readUntrustedSchema(untrustedSchema);
    expect(JSON.stringify(schema)).toBe(JSON.stringify(untrustedSchema));
  });

  it("In an older draft, a list of items is a tuple", () => {
    const pair = { type: "array", items: [{ type: "string" }, { type: "number" }] };
    const older = { $schema: "http://json-schema.org/draft-07/schema#", properties: { pair } };
    expect(readUntrustedSchema(older).problem).toBe(undefined);
    const check = createUntrustedCheck(older);
    expect([check({ pair: ["a", 1] }), check({ pair: ["a", "b"] })]).toEqual([
      undefined,
      "pair.1 must be a number",
    ]);
    expect(readUntrustedSchema({ properties: { pair } }).problem).toMatch(
      /items must be an object or a boolean/,
    );
  });

  it("An $async schema is checked synchronously", () => {
    const check = createUntrustedCheck({ $async: true, type: "object", required: ["a"] });
    expect(check({})).toBe("the arguments must have required property 'a'");
  });

  it("A slow comparison of values is stopped at the time limit", () => {
    const check = createUntrustedCheck({ properties: { list: { uniqueItems: true } } });
    const list = Array.from({ length: 100_000 }, (_, at) => ({ at }));
    expect(check({ list })).toBe(
      "its schema cannot be used: The time limit of 500 ms was exceeded",
    );
    expect(check({ list: [1, 1] })).toMatch(/must NOT have duplicate items/);
  });
});
