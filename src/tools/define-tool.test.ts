import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { SpanlineError } from "../domain/errors.ts";
import type { JsonObject } from "../data/json.ts";
import { defineTool } from "./define-tool.ts";
import type { ToolContext } from "./tool.ts";

const context: ToolContext = {
  sessionId: "ses_1",
  toolCallId: "tool_1",
  idempotencyKey: "tool_1",
  attempt: 1,
  signal: new AbortController().signal,
  progress() {},
  spawn: () => Promise.reject(new Error("not here")),
  host: () => Promise.reject(new Error("not here")),
};

const schema = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { type: "array", items: { type: "object", properties: { at: { type: "integer" } } } },
  },
  required: ["city"],
  additionalProperties: false,
} as const;

function withSchema(input: JsonObject) {
  return defineTool({ name: "weather", description: "Tells it", input, run: (given) => given });
}

/** What was refused, and which part of the definition is to blame. */
function refusal(define: () => unknown): readonly [code: string, path: unknown, message: string] {
  try {
    define();
  } catch (error) {
    if (error instanceof SpanlineError) return [error.code, error.details["path"], error.message];
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a tool with a JSON Schema", () => {
  const tool = withSchema(schema);

  it("is data beside two functions, with two minutes to run and no promise about running twice", () => {
    expect(tool.spec).toEqual({
      name: "weather",
      description: "Tells it",
      schema,
      idempotent: false,
      timeoutMs: 120_000,
    });
  });

  it("takes what fits and hands it to the work as it came", () => {
    const given = { city: "Bergen", days: [{ at: 1 }] };
    expect([tool.check(given), tool.run(given, context)]).toEqual([undefined, given]);
  });

  it.each([
    [{}, "the arguments must have required property 'city'"],
    [{ city: 7 }, "city must be string"],
    [{ city: "Bergen", days: [{ at: 1 }, { at: "two" }] }, "days.1.at must be integer"],
    [{ city: "Bergen", zip: 5003 }, "the arguments must NOT have additional properties (zip)"],
    [{ city: 7, zip: 1 }, expect.stringMatching(/zip.*; city|city.*; .*zip/)],
  ])("says where %j is wrong", (given, problem) => {
    expect(tool.check(given)).toEqual(problem);
  });

  it("says the first five problems of many", () => {
    const days = Array.from({ length: 20 }, () => ({ at: "x" }));
    expect(tool.check({ city: "Bergen", days })?.split("; ").length).toBe(5);
  });

  it("takes a key named __proto__ as data, and no inherited name for an argument", () => {
    const given: JsonObject = JSON.parse('{"city":"Bergen","__proto__":{"isAdmin":true}}');
    expect(tool.check(given)).toContain("(__proto__)");
    const open = withSchema({ type: "object" });
    expect(open.check(given)).toBe(undefined);
    const handed = open.run(given, context);
    expect(Object.keys(Object(handed))).toEqual(["city", "__proto__"]);
    expect(Object.getPrototypeOf(handed)).toBe(Object.prototype);
    const needs = withSchema({ type: "object", required: ["constructor"] });
    expect(needs.check({})).toContain("required property 'constructor'");
  });

  it("takes a schema of an older draft, with unknown formats and keywords", () => {
    const older = withSchema({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { at: { type: "string", format: "moon-phase", "x-hint": 1 } },
    });
    expect([older.check({ at: "full" }), older.check({ at: 1 })]).toEqual([
      undefined,
      "at must be string",
    ]);
  });

  it("may have the schema of another tool, $id and all", () => {
    const same = { $id: "https://example.org/city", ...schema };
    const [one, other] = [withSchema({ ...same }), withSchema({ ...same })];
    expect([one.check({ city: "a" }), other.check({ city: "b" })]).toEqual([undefined, undefined]);
  });

  it("lets nothing through when its schema is none", () => {
    const broken = withSchema({ type: "object", properties: { city: { type: "text" } } });
    expect(broken.check({ city: "Bergen" })).toMatch(/^The schema of weather is no JSON Schema: /);
    expect(refusal(() => broken.run({ city: "Bergen" }, context))[0]).toBe("invalid_tool");
  });
});

describe("a tool with a schema of Zod", () => {
  const input = z.object({
    city: z.string().trim(),
    days: z.array(z.object({ at: z.number() })).default([]),
  });
  const tool = defineTool({
    name: "weather",
    description: "Tells it",
    input,
    run(given) {
      expectTypeOf(given).toEqualTypeOf<{ city: string; days: { at: number }[] }>();
      return given;
    },
  });

  it("tells the model its JSON Schema of what goes in", () => {
    expect(tool.spec.schema).toMatchObject({
      type: "object",
      properties: { city: { type: "string" }, days: { type: "array" } },
      required: ["city"],
    });
  });

  it("hands the work what the schema makes of the arguments", () => {
    expect(tool.run({ city: " Bergen ", unknown: 1 }, context)).toEqual({
      city: "Bergen",
      days: [],
    });
  });

  it("says where arguments are wrong", () => {
    const problem = tool.check({ city: "Bergen", days: [{ at: 1 }, { at: "two" }] });
    expect(problem).toMatch(/^days\.1\.at: .*expected number/);
    expect(tool.check({})).toMatch(/^city: /);
  });

  it("takes a key named __proto__ as data", () => {
    const given: JsonObject = JSON.parse('{"city":"Bergen","__proto__":{"isAdmin":true}}');
    expect(tool.check(given)).toBe(undefined);
    expect(tool.run(given, context)).not.toHaveProperty("isAdmin");
  });

  it("lets nothing through when it checks asynchronously", () => {
    const slow = defineTool({
      name: "slow",
      description: "Checks for long",
      input: z.object({ city: z.string().refine(async () => true) }),
      run: () => "never",
    });
    expect(slow.check({ city: "Bergen" })).toContain("checks asynchronously");
  });
});

describe("a definition of a tool that cannot work", () => {
  const good = { name: "weather", description: "Tells it", input: schema, run: () => "" };

  it.each(["", "two words", "über", "a".repeat(65), "a\n"])(
    "is refused for the name %j",
    (name) => {
      expect(refusal(() => defineTool({ ...good, name })).slice(0, 2)).toEqual([
        "invalid_tool",
        "name",
      ]);
    },
  );

  it.each([
    ["description", { ...good, description: " " }],
    ["timeoutMs", { ...good, timeoutMs: 0 }],
    ["timeoutMs", { ...good, timeoutMs: NaN }],
    ["input", { ...good, input: { type: "string" } }],
  ])("is refused for its %s", (path, definition) => {
    expect(refusal(() => defineTool(definition)).slice(0, 2)).toEqual(["invalid_tool", path]);
  });

  it("is refused for a schema of a library that cannot tell its JSON Schema, unless that is given", () => {
    const mute = {
      "~standard": {
        version: 1,
        vendor: "mute",
        validate: (value: unknown) => ({ value }),
      },
    } as const;
    const define = (more: object) => defineTool({ ...good, input: mute, ...more });
    expect(refusal(() => define({}))).toEqual([
      "invalid_tool",
      "jsonSchema",
      "mute cannot tell the JSON Schema of weather; give it as jsonSchema",
    ]);
    expect(define({ jsonSchema: schema }).spec.schema).toEqual(schema);
    expect(refusal(() => defineTool({ ...good, input: z.string() }))[1]).toBe("input");
  });
});
