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
  return defineTool({ name: "weather", description: "Tells it", input, run: (input) => input });
}

/** The error code, the blamed part of the definition, and the message. */
function refusal(define: () => unknown): readonly [code: string, path: unknown, message: string] {
  try {
    define();
  } catch (error) {
    if (error instanceof SpanlineError) return [error.code, error.details["path"], error.message];
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("A tool with a JSON Schema", () => {
  const tool = withSchema(schema);

  it("A defined tool has a spec with defaults: two minutes to run and not idempotent", () => {
    expect(tool.spec).toEqual({
      name: "weather",
      description: "Tells it",
      schema,
      idempotent: false,
      timeoutMs: 120_000,
    });
  });

  it("Valid arguments are passed to the tool unchanged", () => {
    const inputValue = { city: "Bergen", days: [{ at: 1 }] };
    expect([tool.check(inputValue), tool.run(inputValue, context)]).toEqual([
      undefined,
      inputValue,
    ]);
  });

  it.each([
    [{}, "the arguments must have required property 'city'"],
    [{ city: 7 }, "city must be a string"],
    [{ city: "Bergen", days: [{ at: 1 }, { at: "two" }] }, "days.1.at must be a whole number"],
    [{ city: "Bergen", zip: 5003 }, "the arguments must NOT have additional properties (zip)"],
    [{ city: 7, zip: 1 }, expect.stringMatching(/zip.*; city|city.*; .*zip/)],
  ])("The problem in %j is reported with its location", (input, problem) => {
    expect(tool.check(input)).toEqual(problem);
  });

  it("At most five problems are reported", () => {
    const days = Array.from({ length: 20 }, () => ({ at: "x" }));
    expect(tool.check({ city: "Bergen", days })?.split("; ").length).toBe(5);
  });

  it("A key named __proto__ is data, and inherited names are not arguments", () => {
    const inputValue: JsonObject = JSON.parse('{"city":"Bergen","__proto__":{"isAdmin":true}}');
    expect(tool.check(inputValue)).toContain("(__proto__)");
    const open = withSchema({ type: "object" });
    expect(open.check(inputValue)).toBe(undefined);
    const handed = open.run(inputValue, context);
    expect(Object.keys(Object(handed))).toEqual(["city", "__proto__"]);
    expect(Object.getPrototypeOf(handed)).toBe(Object.prototype);
    const needs = withSchema({ type: "object", required: ["constructor"] });
    expect(needs.check({})).toContain("required property 'constructor'");
  });

  it("A schema of an older draft with unknown formats and keywords is accepted", () => {
    const older = withSchema({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { at: { type: "string", format: "moon-phase", "x-hint": 1 } },
    });
    expect([older.check({ at: "full" }), older.check({ at: 1 })]).toEqual([
      undefined,
      "at must be a string",
    ]);
  });

  it("Two tools may share a schema with the same $id", () => {
    const same = { $id: "https://example.org/city", ...schema };
    const [one, other] = [withSchema({ ...same }), withSchema({ ...same })];
    expect([one.check({ city: "a" }), other.check({ city: "b" })]).toEqual([undefined, undefined]);
  });

  it("An invalid schema accepts no arguments", () => {
    const broken = withSchema({ type: "object", properties: { city: { type: "text" } } });
    expect(broken.check({ city: "Bergen" })).toMatch(
      /^The schema of weather is not a valid JSON Schema: /,
    );
    expect(refusal(() => broken.run({ city: "Bergen" }, context))[0]).toBe("invalid_tool");
  });
});

describe("A tool with a Zod schema", () => {
  const input = z.object({
    city: z.string().trim(),
    days: z.array(z.object({ at: z.number() })).default([]),
  });
  const tool = defineTool({
    name: "weather",
    description: "Tells it",
    input,
    run(input) {
      expectTypeOf(input).toEqualTypeOf<{ city: string; days: { at: number }[] }>();
      return input;
    },
  });

  it("The model receives the JSON Schema of the input", () => {
    expect(tool.spec.schema).toMatchObject({
      type: "object",
      properties: { city: { type: "string" }, days: { type: "array" } },
      required: ["city"],
    });
  });

  it("The tool receives the arguments as parsed by the schema", () => {
    expect(tool.run({ city: " Bergen ", unknown: 1 }, context)).toEqual({
      city: "Bergen",
      days: [],
    });
  });

  it("The location of invalid arguments is reported", () => {
    const problem = tool.check({ city: "Bergen", days: [{ at: 1 }, { at: "two" }] });
    expect(problem).toMatch(/^days\.1\.at: .*expected number/);
    expect(tool.check({})).toMatch(/^city: /);
  });

  it("A key named __proto__ is data for Zod too", () => {
    const inputValue: JsonObject = JSON.parse('{"city":"Bergen","__proto__":{"isAdmin":true}}');
    expect(tool.check(inputValue)).toBe(undefined);
    expect(tool.run(inputValue, context)).not.toHaveProperty("isAdmin");
  });

  it("A schema that validates asynchronously accepts no arguments", () => {
    const slow = defineTool({
      name: "slow",
      description: "Checks for long",
      input: z.object({ city: z.string().refine(async () => true) }),
      run: () => "never",
    });
    expect(slow.check({ city: "Bergen" })).toContain("validates asynchronously");
  });
});

describe("Invalid tool definitions", () => {
  const good = { name: "weather", description: "Tells it", input: schema, run: () => "" };

  it.each(["", "two words", "über", "a".repeat(65), "a\n"])(
    "A tool definition with the name %j is refused",
    (name) => {
      expect(refusal(() => defineTool({ ...good, name })).slice(0, 2)).toEqual([
        "invalid_tool",
        "name",
      ]);
    },
  );

  it("All invalid members of a tool definition are reported together", () => {
    expect(refusal(() => defineTool({ ...good, description: "", timeoutMs: -1 }))).toEqual([
      "invalid_tool",
      "description",
      'The definition of the tool "weather" is not valid: "" is not a valid description: expected a string that is not empty. Fix: describe the purpose of the tool and when to call it. -1 is not a valid timeoutMs: expected a number above 0',
    ]);
  });

  it("A tool definition with a name that is not a string is refused", () => {
    const definition = Object.assign({}, good, JSON.parse('{"name":5}'));
    expect(refusal(() => defineTool(definition)).slice(0, 2)).toEqual(["invalid_tool", "name"]);
  });

  it.each([
    ["description", { ...good, description: " " }],
    ["timeoutMs", { ...good, timeoutMs: 0 }],
    ["timeoutMs", { ...good, timeoutMs: NaN }],
    ["input", { ...good, input: { type: "string" } }],
  ])("A tool definition with an invalid %s is refused", (path, definition) => {
    expect(refusal(() => defineTool(definition)).slice(0, 2)).toEqual(["invalid_tool", path]);
  });

  it("A schema library without JSON Schema export is refused unless jsonSchema is passed", () => {
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
      "mute cannot export the JSON Schema of weather. Fix: pass it as jsonSchema",
    ]);
    expect(define({ jsonSchema: schema }).spec.schema).toEqual(schema);
    expect(refusal(() => defineTool({ ...good, input: z.string() }))[1]).toBe("input");
  });
});
