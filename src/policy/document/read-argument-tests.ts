import { RE2JS } from "re2js";
import { thrownMessage } from "../../domain/errors.ts";
import { isObject, type JsonValue } from "../../domain/json.ts";
import { shown } from "../../domain/shown.ts";
import type { ArgumentTest } from "../../domain/policy.ts";
import { fieldsAt, flagAt, listAt, textAt, wrong } from "./fields.ts";
import { jsonAt } from "./json-at.ts";
import { LONGEST, MOST } from "./limits.ts";
import { patternAt } from "./read-patterns.ts";

type Tests = Omit<ArgumentTest, "name">;

/** How each test is read; those of an argument stand in this order. */
const READERS: {
  readonly [Key in keyof Tests]-?: readonly [string, (value: unknown, path: string) => Tests[Key]];
} = {
  equals: ["equals", jsonAt],
  in: ["in", choicesAt],
  matches: ["matches", expressionAt],
  glob: ["glob", (value, path) => patternAt(value, path)],
  exists: ["exists", flagAt],
  atMost: ["at_most", numberAt],
  atLeast: ["at_least", numberAt],
};

const NAMES: readonly string[] = Object.values(READERS).map(([name]) => name);

/** Reads what a rule wants of arguments, by their names. */
export function readArgumentTests(value: unknown, path: string): ArgumentTest[] {
  if (!isObject(value)) throw wrong(path, `is ${shown(value)}, wanted names of arguments`);
  const entries = Object.entries(value).filter(([, given]) => given !== undefined);
  if (entries.length === 0) throw wrong(path, "names no argument");
  if (entries.length > MOST.argumentTests)
    throw wrong(path, `names more than ${MOST.argumentTests} arguments`);
  return entries
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, test]) => readTest(name, test, `${path}.${name.slice(0, LONGEST.id)}`));
}

function readTest(dotted: string, value: unknown, path: string): ArgumentTest {
  const name = dotted.split(".");
  if (dotted.length > LONGEST.pattern || name.includes(""))
    throw wrong(path, "is no name of an argument; write one, or several with dots between");
  const fields = fieldsAt(value, path, NAMES);
  if (fields.size === 0) throw wrong(path, `says nothing; there are ${NAMES.join(", ")}`);
  const read = Object.entries(READERS).flatMap(([key, [field, reader]]) =>
    fields.has(field) ? [[key, reader(fields.get(field), `${path}.${field}`)]] : [],
  );
  return { name, ...Object.fromEntries(read) };
}

function choicesAt(value: unknown, path: string): JsonValue[] {
  const choices = listAt(value, path, MOST.choices);
  if (choices.length === 0) throw wrong(path, "is an empty list, which fits nothing");
  return choices.map((one, at) => jsonAt(one, `${path}[${at}]`));
}

function numberAt(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw wrong(path, `is ${shown(value)}, wanted a number`);
}

const LARGEST_PROGRAM = 10_000;

function expressionAt(value: unknown, path: string): string {
  const expression = textAt(value, path, LONGEST.expression);
  const problem = problemWithExpression(expression);
  if (problem === undefined) return expression;
  throw wrong(path, `is no regular expression that takes linear time: ${problem}`);
}

function problemWithExpression(expression: string): string | undefined {
  try {
    const size = RE2JS.compile(expression).programSize();
    return size > LARGEST_PROGRAM ? "it is too large" : undefined;
  } catch (error) {
    return thrownMessage(error);
  }
}
