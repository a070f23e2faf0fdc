import { RE2JS } from "re2js";
import { formatThrown } from "../../domain/errors.ts";
import type { JsonValue } from "../../data/json.ts";
import type { ArgumentTest } from "../../domain/policy/policy.ts";
import {
  array,
  boolean,
  json,
  members,
  number,
  record,
  refine,
  string,
  type Schema,
} from "../../data/schema-reader.ts";
import { throwInvalid, throwProblem } from "../../data/schema-error.ts";
import { MAX_LENGTHS, MAX_COUNTS } from "./policy-limits.ts";
import { readPattern } from "./read-patterns.ts";

type ArgumentTestFields = Omit<ArgumentTest, "name">;

/** The reader of each test, by its name in the document. The order is the order of the tests in the parsed rule. */
const READERS: {
  readonly [Key in keyof ArgumentTestFields]-?: readonly [
    string,
    (value: unknown, path: string) => ArgumentTestFields[Key],
  ];
} = {
  equals: ["equals", readJson],
  in: ["in", readChoices],
  matches: ["matches", (value, path) => EXPRESSION(value, path)],
  glob: ["glob", (value, path) => readPattern(value, path)],
  exists: ["exists", boolean()],
  atMost: ["at_most", number()],
  atLeast: ["at_least", number()],
};

const TEST_NAMES: readonly string[] = Object.values(READERS).map(([name]) => name);

/** Reads any JSON value within the size limit. Keys are sorted, so equal values have equal JSON texts. */
export function readJson(value: unknown, path: string): JsonValue {
  return json({ maxDepth: 21, maxLength: MAX_LENGTHS.value, sortsNames: true })(value, path);
}

/**
 * Reads a rule's tests of arguments, such as `{"to.mail": {"glob": "*@example.com"}}`. Dots in a name separate the
 * levels of nested arguments.
 */
export function readArgumentTests(value: unknown, path: string): ArgumentTest[] {
  const tests = Object.entries(TESTS_SCHEMA(value, path));
  if (tests.length === 0) throwProblem(path, "is empty: expected at least one argument");
  return tests
    .sort(([first], [second]) => (first < second ? -1 : 1))
    .map(([name, fields]) => ({ name: name.split("."), ...fields }));
}

const TESTS_SCHEMA = record(readTest, {
  max: MAX_COUNTS.argumentTests,
  name: checkArgumentName,
  expected: "an object of tests by the names of arguments",
});

function checkArgumentName(dotted: string, path: string): void {
  if (dotted.length > MAX_LENGTHS.pattern || dotted.split(".").includes(""))
    throwProblem(path, "is not a valid name of an argument: expected names with dots between them");
}

function readTest(value: unknown, path: string): ArgumentTestFields {
  const fields = members(TEST_NAMES)(value, path);
  if (Object.keys(fields).length === 0)
    throwProblem(path, `is empty: expected some of ${TEST_NAMES.join(", ")}`);
  const read = Object.entries(READERS).flatMap(([key, [field, reader]]) =>
    Object.hasOwn(fields, field) ? [[key, reader(fields[field], `${path}.${field}`)]] : [],
  );
  return Object.fromEntries(read);
}

function readChoices(value: unknown, path: string): readonly JsonValue[] {
  return array(readJson, { min: 1, max: MAX_COUNTS.choices })(value, path);
}

/** Instructions of the compiled RE2 program. Limits the time of a match. */
const MAX_PROGRAM_SIZE = 10_000;

const EXPRESSION: Schema<string> = refine(
  string({ isFilled: true, max: MAX_LENGTHS.expression }),
  (expression, path) => {
    const problem = findExpressionProblem(expression);
    if (problem === undefined) return expression;
    const expected = `a regular expression that takes linear time (${problem})`;
    return throwInvalid({ path, value: expression, expected });
  },
);

function findExpressionProblem(expression: string): string | undefined {
  try {
    const size = RE2JS.compile(expression).programSize();
    return size > MAX_PROGRAM_SIZE ? "it is too large" : undefined;
  } catch (error) {
    return formatThrown(error);
  }
}
