import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createInlineFunction } from "./converse-input.ts";

const schema = {
  type: "object",
  properties: {
    mode: { enum: ["fast", "slow"], default: "fast", description: "How" },
    tags: { type: "array", items: { type: "string", minLength: 1 } },
    place: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] },
    id: { anyOf: [{ type: "string" }, { type: "integer" }] },
  },
  required: ["mode"],
  additionalProperties: false,
};

describe("declaring an inline function", () => {
  it("wraps a JSON Schema and loses nothing of it [RMA-P1-28]", () => {
    expect(createInlineFunction("look_up", "Looks it up", schema)).toEqual({
      type: "inline_function",
      name: "look_up",
      config: { inlineFunction: { description: "Looks it up", inputSchema: schema } },
    });
  });

  it("takes any Standard Schema that carries a JSON Schema, as Zod does [RMA-P1-28]", () => {
    const parameters = z.object({
      mode: z.enum(["fast", "slow"]).default("fast").describe("How"),
      tags: z.array(z.string().min(1)).optional(),
      place: z.object({ lat: z.number() }),
      id: z.union([z.string(), z.int()]),
    });
    const { inputSchema } = createInlineFunction("look_up", "Looks it up", parameters).config
      .inlineFunction;
    expect(inputSchema).toMatchObject({
      type: "object",
      properties: {
        mode: { enum: ["fast", "slow"], default: "fast", description: "How" },
        tags: { type: "array", items: { type: "string", minLength: 1 } },
        place: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] },
        id: { anyOf: [{ type: "string" }, { type: "integer" }] },
      },
      // The agent sends the input: what has a default may be left out.
      required: ["place", "id"],
    });
  });

  it("takes an empty schema as a tool without parameters", () => {
    expect(createInlineFunction("now", "The time", {}).config.inlineFunction.inputSchema).toEqual({
      type: "object",
      properties: {},
    });
  });

  it.each([
    ["", "d", {}],
    ["has space", "d", {}],
    ["a".repeat(65), "d", {}],
    ["ok", "", {}],
    ["ok", "d".repeat(4097), {}],
    ["ok", "d", { type: "array" }],
  ])("refuses what the service refuses: %j, %j, %j", (name, description, given) => {
    expect(() => createInlineFunction(name, description, given)).toThrow(
      expect.objectContaining({ code: "invalid_tool" }),
    );
  });

  it("refuses a schema that has no JSON form, and says why", () => {
    expect(() => createInlineFunction("when", "d", z.object({ at: z.date() }))).toThrow(
      /^The schema of "when" cannot be written as JSON Schema: /,
    );
    const silent = { "~standard": { version: 1, vendor: "x", validate: () => ({ value: 1 }) } };
    expect(() => createInlineFunction("when", "d", silent)).toThrow("pass a JSON Schema");
  });
});
