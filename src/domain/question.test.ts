import { describe, expect, it } from "vitest";
import { type Question, readTypedAnswer } from "./question.ts";

const TEXT: Question = { kind: "question", text: "Which?" };
const CHOICES: Question = { ...TEXT, choices: ["red", "blue"] };
const FORM: Question = {
  ...TEXT,
  schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
};
const APPROVAL: Question = { kind: "approval", text: "Deploy?" };

describe("A typed answer", () => {
  it.each<[string, Question, string, unknown]>([
    ["text", TEXT, " Bern ", "Bern"],
    ["a choice", CHOICES, "blue", "blue"],
    ["the number of a choice", CHOICES, "1", "red"],
    ["the values of a form", FORM, '{"n":2}', { n: 2 }],
    ["a yes", APPROVAL, "Yes", true],
  ])("%s is accepted as a typed answer", (_, question, line, answer) => {
    expect(readTypedAnswer(question, line)).toEqual({ ok: true, answer });
  });

  it.each<[string, Question, string, string]>([
    ["another choice", CHOICES, "green", 'expected "red" or "blue"'],
    ["a number without a choice", CHOICES, "3", 'expected "red" or "blue"'],
    ["text for a form", FORM, "two", "expected a JSON object with the fields of the form"],
    ["a wrong value of a form", FORM, '{"n":"2"}', '"n" is not valid: expected a number'],
    ["a no to an approval", APPROVAL, "no", "expected yes"],
  ])("%s is refused as a typed answer", (_, question, line, problem) => {
    expect(readTypedAnswer(question, line)).toEqual({ ok: false, problem });
  });
});
