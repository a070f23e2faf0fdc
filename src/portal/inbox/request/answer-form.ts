import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { findAnswerProblem, type Question } from "../../../domain/question.ts";
import { findFieldProblem } from "../../../domain/question-schema.ts";

/** A field of the form which a question shows. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly description?: string;
  readonly isRequired: boolean;
  readonly control: "text" | "lines" | "number" | "checkbox" | "select" | "checks";
  /** Type of a text input, from the `format` of the schema. */
  readonly inputType: "text" | "email" | "url" | "date";
  readonly choices: readonly FormChoice[];
  /** The limits in words, such as `at least 3 characters`. */
  readonly hint?: string;
  readonly schema: JsonObject;
}

interface FormChoice {
  readonly value: string;
  readonly label: string;
}

/** The entered values by field name. A text may be empty. */
export interface FormValues {
  readonly [name: string]: FormValue;
}

export type FormValue = string | boolean | readonly string[];

export type FormResult =
  | { readonly ok: true; readonly answer: JsonValue }
  | {
      readonly ok: false;
      /** By field name. */
      readonly problems: ReadonlyMap<string, string>;
      /** A problem of the whole answer. */
      readonly problem?: string;
    };

/** Text longer than this gets several lines. */
const LONG_TEXT = 200;

/** Lists the fields of a form in the order of its schema. */
export function listFormFields(schema: JsonObject): readonly FormField[] {
  const { properties, required } = schema;
  if (!isObject(properties)) return [];
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).flatMap(([name, field]) =>
    isObject(field) ? [createField(name, field, names.includes(name))] : [],
  );
}

function createField(name: string, schema: JsonObject, isRequired: boolean): FormField {
  const { title, description } = schema;
  const choices = listFormChoices(schema["type"] === "array" ? schema["items"] : schema);
  const hint = describeLimits(schema);
  return {
    name,
    label: typeof title === "string" && title.trim() !== "" ? title : name,
    ...(typeof description === "string" && { description }),
    isRequired,
    control: resolveControl(schema, choices),
    inputType: resolveInputType(schema["format"]),
    choices,
    ...(hint !== undefined && { hint }),
    schema,
  };
}

function resolveControl(
  { type, maxLength, format }: JsonObject,
  choices: readonly FormChoice[],
): FormField["control"] {
  if (type === "boolean") return "checkbox";
  if (type === "array") return "checks";
  if (type === "number" || type === "integer") return "number";
  if (choices.length > 0) return "select";
  const isLong = typeof maxLength === "number" && maxLength > LONG_TEXT;
  return isLong && format === undefined ? "lines" : "text";
}

function resolveInputType(format: JsonValue | undefined): FormField["inputType"] {
  switch (format) {
    case "email":
    case "date":
      return format;
    case "uri":
      return "url";
    default:
      return "text";
  }
}

/** Reads `enum`, or `oneOf` with titles. */
function listFormChoices(options: JsonValue | undefined): readonly FormChoice[] {
  if (!isObject(options)) return [];
  const { enum: values, oneOf } = options;
  if (Array.isArray(values))
    return values.flatMap((value: JsonValue) =>
      typeof value === "string" ? [{ value, label: value }] : [],
    );
  if (!Array.isArray(oneOf)) return [];
  return oneOf.flatMap((choice: JsonValue) => {
    if (!isObject(choice) || typeof choice["const"] !== "string") return [];
    const { const: value, title } = choice;
    return [{ value, label: typeof title === "string" ? title : value }];
  });
}

function describeLimits(schema: JsonObject): string | undefined {
  const { type } = schema;
  if (type === "array")
    return formatRange([schema["minItems"], schema["maxItems"]], "choice", "choices");
  if (type === "string")
    return formatRange([schema["minLength"], schema["maxLength"]], "character", "characters");
  const range = formatRange([schema["minimum"], schema["maximum"]], "", "");
  if (type !== "integer") return range;
  return range === undefined ? "a whole number" : `a whole number, ${range}`;
}

function formatRange(
  [least, most]: readonly (JsonValue | undefined)[],
  singular: string,
  plural: string,
): string | undefined {
  const unit = (count: number): string => (count === 1 ? singular : plural);
  if (typeof least === "number" && typeof most === "number")
    return `${least} to ${most} ${unit(most)}`.trim();
  if (typeof least === "number") return `at least ${least} ${unit(least)}`.trim();
  return typeof most === "number" ? `at most ${most} ${unit(most)}`.trim() : undefined;
}

/** The values of a new form: the defaults of the question, else of the fields. */
export function createFormValues(
  fields: readonly FormField[],
  defaultAnswer: JsonValue | undefined,
): FormValues {
  const defaults = isObject(defaultAnswer) ? defaultAnswer : {};
  return Object.fromEntries(
    fields.map(({ name, control, schema }) => [
      name,
      toFormValue(control, defaults[name] ?? schema["default"]),
    ]),
  );
}

function toFormValue(control: FormField["control"], value: unknown): FormValue {
  if (control === "checkbox") return value === true;
  if (control === "checks")
    return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Adds or removes a choice of a list, in the order of the choices. */
export function toggleChoice(
  { choices }: FormField,
  value: FormValue | undefined,
  choice: string,
): readonly string[] {
  const chosen = new Set(Array.isArray(value) ? value : []);
  if (!chosen.delete(choice)) chosen.add(choice);
  return choices.map((one) => one.value).filter((one) => chosen.has(one));
}

/** Reads the answer from a form. An optional field without an entry is left out. */
export function readForm(
  question: Question,
  fields: readonly FormField[],
  values: FormValues,
): FormResult {
  const problems = new Map<string, string>();
  const entries: [string, JsonValue][] = [];
  for (const field of fields) {
    const value = readField(field, values[field.name]);
    if (value === undefined) {
      if (field.isRequired) problems.set(field.name, "required");
      continue;
    }
    const problem = findFieldProblem(field.schema, value);
    if (problem !== undefined) problems.set(field.name, problem);
    entries.push([field.name, value]);
  }
  if (problems.size > 0) return { ok: false, problems };
  const answer = Object.fromEntries(entries);
  const problem = findAnswerProblem(question, answer);
  return problem === undefined ? { ok: true, answer } : { ok: false, problems, problem };
}

function readField(
  { control, isRequired }: FormField,
  value: FormValue = "",
): JsonValue | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return value.length === 0 && !isRequired ? undefined : value;
  if (value.trim() === "") return undefined;
  if (control !== "number") return value;
  const number = Number(value);
  // Any other text stays a string, and the validation reports its type.
  return Number.isFinite(number) ? number : value;
}

/** Reads an answer typed as text. */
export function readTextAnswer(question: Question, text: string): FormResult {
  if (text.trim() === "")
    return { ok: false, problems: new Map(), problem: "Enter an answer first" };
  const problem = findAnswerProblem(question, text);
  return problem === undefined
    ? { ok: true, answer: text }
    : { ok: false, problems: new Map(), problem };
}
