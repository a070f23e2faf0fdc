import { describe, expect, it } from "vitest";
import type { QuestionField, QuestionRequest } from "../../host/index.ts";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import { createFieldQuestion, toQuestionReply } from "./question-form.ts";

const FIELD: QuestionField = {
  name: "answer",
  label: "Answer",
  description: null,
  type: "string",
  isRequired: true,
  choices: [],
};
const CHOICES = [
  { value: "r", label: "Red" },
  { value: "b", label: "Blue" },
];

function createRequest(...fields: readonly QuestionField[]): QuestionRequest {
  return { sessionId: "s", id: "hitl_question_1", message: "Which\u001b[2J?", schema: {}, fields };
}

function read(field: Partial<QuestionField>, line: string): unknown {
  const whole = { ...FIELD, ...field };
  return createFieldQuestion(createRequest(whole), whole, PLAIN_STYLE).read(line);
}

describe("A question in the chat", () => {
  it("The question is shown without control characters, with numbered choices and a way to decline", () => {
    const field = { ...FIELD, choices: CHOICES, default: "b" };
    const { rows, prompt } = createFieldQuestion(createRequest(field), field, PLAIN_STYLE);
    expect(rows).toEqual([
      "── The agent asks ──",
      String.raw`  Which\u{1b}[2J?`,
      "  1  Red",
      "  2  Blue",
      "  /decline declines the question",
    ]);
    expect(prompt).toBe("Answer (empty: b): ");
  });

  it.each<[string, Partial<QuestionField>, string, unknown]>([
    ["text", {}, " Bern ", { value: "Bern" }],
    ["an empty line for a required field", {}, "", undefined],
    ["an empty line for an optional field", { isRequired: false }, "", { value: undefined }],
    ["an empty line with a default", { default: "x" }, "", { value: "x" }],
    ["a decline", {}, "/decline", "decline"],
    ["a choice by number", { choices: CHOICES }, "2", { value: "b" }],
    ["a choice by name", { choices: CHOICES }, "Red", { value: "r" }],
    ["another choice", { choices: CHOICES }, "Green", undefined],
    ["several choices", { type: "array", choices: CHOICES }, "1, Blue", { value: ["r", "b"] }],
    ["a number", { type: "number" }, "1.5", { value: 1.5 }],
    ["a fraction for an integer", { type: "integer" }, "1.5", undefined],
    ["a word for a number", { type: "number" }, "many", undefined],
    ["yes", { type: "boolean" }, "Y", { value: true }],
    ["no", { type: "boolean" }, "no", { value: false }],
    ["maybe", { type: "boolean" }, "maybe", undefined],
  ])("%s is read as the value of a field", (_, field, line, value) => {
    expect(read(field, line)).toEqual(value);
  });

  it("The answer has the values of all fields, without the empty ones", () => {
    const request = createRequest(FIELD, { ...FIELD, name: "b" }, { ...FIELD, name: "c" });
    expect(toQuestionReply(request, ["x", undefined, 2])).toEqual({
      answer: { answer: "x", c: 2 },
    });
  });
});
