import { isObject, toJsonText, type JsonObject, type JsonValue, parseJson } from "../data/json.ts";
import { omitUndefined } from "../data/omit-undefined.ts";
import { formatNames } from "../text/unknown-name.ts";
import { findFormProblem, findFormSchemaProblem } from "./question-schema.ts";

/** The runtime tool with which an agent asks a person. Available if the agent's definition has `askUser`. */
export const ASK_USER_TOOL = "ask_user";

/**
 * - `question`: a person answers with text, a choice or a form.
 * - `approval`: a person approves or declines.
 * - `dual_control`: several people approve.
 * - `escalation`: waits without a deadline until a person accepts.
 */
export const QUESTION_KINDS = ["question", "approval", "dual_control", "escalation"] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/** A question of the agent to a person, and the form of its answer. */
export interface Question {
  readonly kind: QuestionKind;
  readonly text: string;
  /** The possible answers. Absent: any text, or `schema`. */
  readonly choices?: readonly string[];
  /** A JSON schema of an object with plain fields; the answer is such an object. */
  readonly schema?: JsonObject;
  /** The answer to use if no person answers before the deadline. Absent: the agent gets an error. */
  readonly default?: JsonValue;
}

/** A question with the conditions of its request. */
export interface QuestionRequest {
  readonly question: Question;
  /** Number of different principals who must give the same answer. */
  readonly approvers: number;
  /** Milliseconds. Absent: the agent's default. */
  readonly waitMs?: number;
}

export const MAX_QUESTION_LENGTH = 4000;
export const MAX_CHOICES = 20;
export const MAX_CHOICE_LENGTH = 200;
export const MAX_APPROVERS = 10;
/** Limit of an answer as JSON, in characters. */
const MAX_ANSWER_LENGTH = 32_000;
const DAY_SECONDS = 86_400;
/** Seconds. The default wait, and the limit of `timeout_seconds` unless the agent's definition has a lower one. */
export const DEFAULT_QUESTION_SECONDS = DAY_SECONDS;

/** Reads the arguments of `ask_user`. Returns the problem as a string, for the model. */
export function readQuestion(input: JsonObject): QuestionRequest | string {
  const { question: text, kind = "question", options, schema, timeout_seconds: seconds } = input;
  if (typeof text !== "string" || text.trim() === "" || text.length > MAX_QUESTION_LENGTH)
    return `"question" is not valid: expected 1 to ${MAX_QUESTION_LENGTH} characters`;
  if (!isQuestionKind(kind)) return `"kind" is not valid: expected ${formatNames(QUESTION_KINDS)}`;
  const choices = options === undefined ? undefined : readChoices(options);
  if (choices === null)
    return `"options" is not valid: expected 2 to ${MAX_CHOICES} different strings of at most ${MAX_CHOICE_LENGTH} characters`;
  if (schema !== undefined && !isObject(schema)) return '"schema" is not valid: expected an object';
  const question: Question = {
    kind,
    text,
    ...omitUndefined({ choices, schema, default: input["default"] }),
  };
  const approvers = readApprovers(input["approvers"], kind);
  if (typeof approvers === "string") return approvers;
  const isWait = typeof seconds === "number" && seconds >= 1;
  if (seconds !== undefined && !isWait)
    return '"timeout_seconds" is not valid: expected at least 1';
  const waitMs = isWait ? Math.ceil(seconds * 1000) : undefined;
  return findQuestionProblem(question) ?? { question, approvers, ...omitUndefined({ waitMs }) };
}

function readChoices(options: JsonValue): readonly string[] | null {
  if (!Array.isArray(options) || options.length < 2 || options.length > MAX_CHOICES) return null;
  const choices = options.filter(
    (choice): choice is string =>
      typeof choice === "string" && choice.trim() !== "" && choice.length <= MAX_CHOICE_LENGTH,
  );
  return new Set(choices).size === options.length ? choices : null;
}

function readApprovers(value: JsonValue | undefined, kind: QuestionKind): number | string {
  const least = kind === "dual_control" ? 2 : 1;
  if (value === undefined) return least;
  const isCount = typeof value === "number" && Number.isInteger(value);
  if (isCount && value >= least && value <= MAX_APPROVERS) return value;
  return `"approvers" is not valid: expected ${least} to ${MAX_APPROVERS}`;
}

function findQuestionProblem(question: Question): string | undefined {
  const { kind, choices, schema, default: defaultAnswer } = question;
  if (choices !== undefined && schema !== undefined)
    return '"options" and "schema" cannot be used together';
  const isPlain = choices === undefined && schema === undefined && defaultAnswer === undefined;
  if (kind !== "question" && !isPlain)
    return `"options", "schema" and "default" are for the kind "question", not for "${kind}"`;
  const schemaProblem = schema === undefined ? undefined : findFormSchemaProblem(schema);
  if (schemaProblem !== undefined) return schemaProblem;
  const problem =
    defaultAnswer === undefined ? undefined : findAnswerProblem(question, defaultAnswer);
  return problem === undefined ? undefined : `"default" is not a possible answer: ${problem}`;
}

/** Returns why an answer does not fit its question. Undefined for a valid answer. */
export function findAnswerProblem(question: Question, answer: JsonValue): string | undefined {
  const { kind, choices, schema } = question;
  if (kind !== "question") return answer === true ? undefined : "expected true";
  if (toJsonText(answer).length > MAX_ANSWER_LENGTH)
    return `the answer is longer than ${MAX_ANSWER_LENGTH} characters`;
  if (schema !== undefined) return findFormProblem(schema, answer);
  if (typeof answer !== "string") return "expected a string";
  if (choices === undefined || choices.includes(answer)) return undefined;
  return `expected ${formatNames(choices)}`;
}

/** The answer as text for the model: a string as it is, any other value as JSON. */
export function formatAnswer(answer: JsonValue): string {
  return typeof answer === "string" ? answer : toJsonText(answer);
}

function isQuestionKind(value: JsonValue): value is QuestionKind {
  return QUESTION_KINDS.some((kind) => kind === value);
}

type TypedAnswer =
  | { readonly ok: true; readonly answer: JsonValue }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads an answer typed as text: the text itself, a choice or its number, the values of a form as a JSON object, or a
 * yes to an approval.
 */
export function readTypedAnswer(question: Question, line: string): TypedAnswer {
  const text = line.trim();
  const answer = parseAnswer(question, text);
  if (answer === undefined)
    return { ok: false, problem: EXPECTED_TEXTS.get(question.kind) ?? JSON_EXPECTED };
  const problem = findAnswerProblem(question, answer);
  return problem === undefined ? { ok: true, answer } : { ok: false, problem };
}

const JSON_EXPECTED = "expected a JSON object with the fields of the form";
const EXPECTED_TEXTS: ReadonlyMap<string, string> = new Map([
  ["approval", "expected yes"],
  ["dual_control", "expected yes"],
  ["escalation", "expected yes"],
]);

function parseAnswer({ kind, choices, schema }: Question, text: string): JsonValue | undefined {
  if (kind !== "question") return /^(y|yes|allow|approve|accept)$/i.test(text) ? true : undefined;
  if (schema !== undefined) {
    const parsed = parseJson(text);
    return parsed.ok ? parsed.value : undefined;
  }
  if (choices === undefined || choices.includes(text)) return text;
  return /^[1-9]\d?$/.test(text) ? (choices[Number(text) - 1] ?? text) : text;
}
