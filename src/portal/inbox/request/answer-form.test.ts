import { describe, expect, it } from "vitest";
import type { Question } from "../../../domain/question.ts";
import {
  createFormValues,
  listFormFields,
  readForm,
  readTextAnswer,
  toggleChoice,
} from "./answer-form.ts";

const question: Question = {
  kind: "question",
  text: "How shall I deploy?",
  schema: {
    type: "object",
    required: ["region", "replicas", "confirm"],
    properties: {
      region: {
        type: "string",
        title: "Region",
        oneOf: [
          { const: "eu", title: "Europe" },
          { const: "us", title: "United States" },
        ],
      },
      replicas: { type: "integer", minimum: 1, maximum: 9, default: 2 },
      contact: { type: "string", format: "email", minLength: 3 },
      notes: { type: "string", maxLength: 2000 },
      steps: { type: "array", items: { enum: ["build", "test", "ship"] }, minItems: 2 },
      confirm: { type: "boolean" },
    },
  },
};
const fields = listFormFields(question.schema ?? {});

describe("The form of a question", () => {
  it("Every kind of field of the schema has a control and its limits in words", () => {
    expect(
      fields.map(({ name, control, inputType, hint }) => [name, control, inputType, hint]),
    ).toEqual([
      ["region", "select", "text", undefined],
      ["replicas", "number", "text", "a whole number, 1 to 9"],
      ["contact", "text", "email", "at least 3 characters"],
      ["notes", "lines", "text", "at most 2000 characters"],
      ["steps", "checks", "text", "at least 2 choices"],
      ["confirm", "checkbox", "text", undefined],
    ]);
    expect(fields[0]?.choices).toEqual([
      { value: "eu", label: "Europe" },
      { value: "us", label: "United States" },
    ]);
  });

  it("The defaults of the question come before those of the fields", () => {
    expect(createFormValues(fields, { region: "us", confirm: true })).toEqual({
      region: "us",
      replicas: "2",
      contact: "",
      notes: "",
      steps: [],
      confirm: true,
    });
  });

  it("An answer has numbers as numbers and leaves out empty optional fields", () => {
    const values = { ...createFormValues(fields, undefined), region: "eu", replicas: " 3 " };
    expect(readForm(question, fields, values)).toEqual({
      ok: true,
      answer: { region: "eu", replicas: 3, confirm: false },
    });
  });

  it("Each invalid field has its own problem", () => {
    const values = {
      ...createFormValues(fields, undefined),
      replicas: "many",
      contact: "a",
      steps: ["build"],
    };
    expect(readForm(question, fields, values)).toEqual({
      ok: false,
      problems: new Map([
        ["region", "required"],
        ["replicas", "expected a number"],
        ["contact", "expected at least 3 characters"],
        ["steps", "expected at least 2 choices"],
      ]),
    });
  });

  it("Choices of a list keep the order of the schema", () => {
    const [, , , , steps] = fields;
    if (steps === undefined) throw new Error("The form has no field steps");
    expect(toggleChoice(steps, ["ship"], "build")).toEqual(["build", "ship"]);
    expect(toggleChoice(steps, ["build", "ship"], "ship")).toEqual(["build"]);
  });

  it("A field with the name of a property of all objects is a plain field", () => {
    const schema = { type: "object", properties: { constructor: { type: "string" } } } as const;
    const [field] = listFormFields(schema);
    expect(field?.name).toBe("constructor");
    expect(
      readForm({ kind: "question", text: "?", schema }, listFormFields(schema), {
        constructor: "a",
      }),
    ).toEqual({ ok: true, answer: { constructor: "a" } });
  });

  it("A blank text answer is refused before it is sent", () => {
    expect(readTextAnswer({ kind: "question", text: "?" }, " \n")).toEqual({
      ok: false,
      problems: new Map(),
      problem: "Enter an answer first",
    });
    expect(readTextAnswer({ kind: "question", text: "?" }, "Bern")).toEqual({
      ok: true,
      answer: "Bern",
    });
  });
});
