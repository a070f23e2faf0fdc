import { RE2JS } from "re2js";
import { formatThrown } from "../../domain/errors.ts";
import { isObject, type JsonValue } from "../../data/json.ts";
import { formatValue } from "../../text/format-value.ts";
import type { ArgumentTest } from "../../domain/policy/policy.ts";
import { readFields, readBoolean, readList, readString, createPolicyError } from "./read-fields.ts";
import { readJson } from "./read-json.ts";
import { MAX_LENGTHS, MAX_COUNTS } from "./policy-limits.ts";
import { readPattern } from "./read-patterns.ts";

type ArgumentTestFields = Omit<ArgumentTest, "name">;

/** How each test is read; those of an argument stand in this order. */
const READERS: {
  readonly [Key in keyof ArgumentTestFields]-?: readonly [
    string,
    (value: unknown, path: string) => ArgumentTestFields[Key],
  ];
} = {
  equals: ["equals", readJson],
  in: ["in", readChoices],
  matches: ["matches", readExpression],
  glob: ["glob", (value, path) => readPattern(value, path)],
  exists: ["exists", readBoolean],
  atMost: ["at_most", readNumber],
  atLeast: ["at_least", readNumber],
};

const TEST_NAMES: readonly string[] = Object.values(READERS).map(([name]) => name);

/** Reads what a rule wants of arguments, by their names. */
export function readArgumentTests(value: unknown, path: string): ArgumentTest[] {
  if (!isObject(value))
    throw createPolicyError(path, `is ${formatValue(value)}, wanted names of arguments`);
  const entries = Object.entries(value).filter(([, testValue]) => testValue !== undefined);
  if (entries.length === 0) throw createPolicyError(path, "names no argument");
  if (entries.length > MAX_COUNTS.argumentTests)
    throw createPolicyError(path, `names more than ${MAX_COUNTS.argumentTests} arguments`);
  return entries
    .sort(([first], [second]) => (first < second ? -1 : 1))
    .map(([name, test]) => readTest(name, test, `${path}.${name.slice(0, MAX_LENGTHS.id)}`));
}

function readTest(dotted: string, value: unknown, path: string): ArgumentTest {
  const name = dotted.split(".");
  if (dotted.length > MAX_LENGTHS.pattern || name.includes(""))
    throw createPolicyError(
      path,
      "is no name of an argument; write one, or several with dots between",
    );
  const fields = readFields(value, path, TEST_NAMES);
  if (fields.size === 0)
    throw createPolicyError(path, `says nothing; there are ${TEST_NAMES.join(", ")}`);
  const read = Object.entries(READERS).flatMap(([key, [field, reader]]) =>
    fields.has(field) ? [[key, reader(fields.get(field), `${path}.${field}`)]] : [],
  );
  return { name, ...Object.fromEntries(read) };
}

function readChoices(value: unknown, path: string): JsonValue[] {
  const choices = readList(value, path, MAX_COUNTS.choices);
  if (choices.length === 0) throw createPolicyError(path, "is an empty list, which fits nothing");
  return choices.map((choice, at) => readJson(choice, `${path}[${at}]`));
}

function readNumber(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw createPolicyError(path, `is ${formatValue(value)}, wanted a number`);
}

const MAX_PROGRAM_SIZE = 10_000;

function readExpression(value: unknown, path: string): string {
  const expression = readString(value, path, MAX_LENGTHS.expression);
  const problem = findExpressionProblem(expression);
  if (problem === undefined) return expression;
  throw createPolicyError(path, `is no regular expression that takes linear time: ${problem}`);
}

function findExpressionProblem(expression: string): string | undefined {
  try {
    const size = RE2JS.compile(expression).programSize();
    return size > MAX_PROGRAM_SIZE ? "it is too large" : undefined;
  } catch (error) {
    return formatThrown(error);
  }
}
