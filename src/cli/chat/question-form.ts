import type { JsonValue } from "../../data/json.ts";
import type { QuestionField, QuestionReply, QuestionRequest } from "../../host/index.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";
import type { ScreenQuestion } from "./approval-question.ts";

/** The value of a field; undefined if an optional field stays empty. */
export type FieldReply = { readonly value: JsonValue | undefined } | "decline";

/** The line that declines a question. */
const DECLINE = "/decline";

/** A field of an agent's question as displayed in a chat. The question itself is shown above its first field. */
export function createFieldQuestion(
  { message, fields }: QuestionRequest,
  field: QuestionField,
  style: Style,
): ScreenQuestion<FieldReply> {
  const isFirst = fields[0] === field;
  const choiceRows = field.choices.map(
    ({ label }, at) => `  ${style.strong(String(at + 1))}  ${toSingleLine(label)}`,
  );
  const hint = field.default === undefined ? "" : ` (empty: ${formatDefault(field.default)})`;
  const name = fields.length > 1 ? toSingleLine(field.label) : "Answer";
  return {
    rows: [
      ...(isFirst ? [style.strong(HEADING), ...indent(message)] : []),
      ...(field.description === null ? [] : indent(field.description)),
      ...choiceRows,
      ...(isFirst ? [style.dim(`  ${DECLINE} declines the question`)] : []),
    ],
    fullRows: undefined,
    prompt: `${name}${hint}: `,
    ...(choiceRows.length === 0 && { retryText: RETRY_TEXTS.get(field.type) ?? "Please answer." }),
    read: (line) => readField(field, line.trim()),
  };
}

const RETRY_TEXTS: ReadonlyMap<string, string> = new Map([
  ["number", "Please answer with a number."],
  ["integer", "Please answer with a whole number."],
  ["boolean", "Please answer with yes or no."],
]);

const HEADING = "── The agent asks ──";

/** Each line of the agent's text, without control characters. */
function indent(text: string): string[] {
  return text.split("\n").map((line) => `  ${toSingleLine(line)}`);
}

function formatDefault(value: JsonValue): string {
  return toSingleLine(typeof value === "string" ? value : JSON.stringify(value));
}

function readField(field: QuestionField, text: string): FieldReply | undefined {
  if (text === DECLINE) return "decline";
  if (text === "") {
    if (field.default !== undefined) return { value: field.default };
    return field.isRequired ? undefined : { value: undefined };
  }
  const value = readValue(field, text);
  return value === undefined ? undefined : { value };
}

/** Parses a typed value. Undefined if it is not valid. */
function readValue(field: QuestionField, text: string): JsonValue | undefined {
  const { type, choices } = field;
  switch (type) {
    case "number":
    case "integer": {
      const value = Number(text);
      return Number.isFinite(value) && (type === "number" || Number.isInteger(value))
        ? value
        : undefined;
    }
    case "boolean":
      return BOOLEANS.get(text.toLowerCase());
    case "array": {
      const values = text.split(",").map((part) => readChoice(field, part.trim()));
      return values.every((value) => value !== undefined) ? values : undefined;
    }
    default:
      return choices.length === 0 ? text : readChoice(field, text);
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["y", true],
  ["yes", true],
  ["true", true],
  ["n", false],
  ["no", false],
  ["false", false],
]);

/** A choice by its number, its name or its value. */
function readChoice({ choices }: QuestionField, text: string): string | undefined {
  const named = choices.find(({ value, label }) => text === value || text === label);
  const numbered = /^[1-9]\d*$/.test(text) ? choices[Number(text) - 1] : undefined;
  return (named ?? numbered)?.value;
}

/** Combines the values of all fields. A question with one field named `answer` has its value as the answer. */
export function toQuestionReply(
  { fields }: QuestionRequest,
  values: readonly (JsonValue | undefined)[],
): QuestionReply {
  const entries = fields.flatMap(({ name }, at) => {
    const value = values[at];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { answer: Object.fromEntries(entries) };
}
