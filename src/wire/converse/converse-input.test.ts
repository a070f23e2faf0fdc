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

describe("Declaring an inline function", () => {
  it("A JSON Schema is sent unchanged [RMA-P1-28]", () => {
    expect(createInlineFunction("look_up", "Looks it up", schema)).toEqual({
      type: "inline_function",
      name: "look_up",
      config: { inlineFunction: { description: "Looks it up", inputSchema: schema } },
    });
  });

  it("A Standard Schema with a JSON Schema conversion, such as Zod's, is accepted [RMA-P1-28]", () => {
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
      // The agent writes the input, so fields with a default are optional.
      required: ["place", "id"],
    });
  });

  it("An empty schema declares a tool without parameters", () => {
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
  ])("A tool that the service would refuse is refused: %j, %j, %j", (name, description, input) => {
    expect(() => createInlineFunction(name, description, input)).toThrow(
      expect.objectContaining({ code: "invalid_tool" }),
    );
  });

  it("A schema without a JSON form is refused with the reason", () => {
    expect(() => createInlineFunction("when", "d", z.object({ at: z.date() }))).toThrow(
      /^The schema of "when" cannot be written as JSON Schema: /,
    );
    const silent = { "~standard": { version: 1, vendor: "x", validate: () => ({ value: 1 }) } };
    expect(() => createInlineFunction("when", "d", silent)).toThrow("pass a JSON Schema");
  });
});
