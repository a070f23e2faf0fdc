import { isObject, type JsonValue } from "./json.ts";
import {
  formatChoices,
  IssueCollector,
  joinPath,
  SchemaError,
  throwInvalid,
  throwProblem,
  throwUnknownName,
  type Issue,
} from "./schema-error.ts";
import { suggestFix } from "../text/unknown-name.ts";

/** Reads an unknown value at a path, or throws a `SchemaError`. Any function with this signature is a schema. */
export type Schema<Value> = (value: unknown, path: string) => Value;

/** A schema for an optional member. An absent member is absent from the result too. */
export interface OptionalSchema<Value> extends Schema<Value | undefined> {
  readonly isOptional: true;
}

export type Infer<S> = S extends Schema<infer Value> ? Value : never;

interface Shape {
  readonly [name: string]: Schema<unknown>;
}

type OptionalNames<S extends Shape> = {
  [Name in keyof S]: S[Name] extends OptionalSchema<unknown> ? Name : never;
}[keyof S];

/** The result type of `object(shape)`. */
export type ObjectOf<S extends Shape> = {
  readonly [Name in Exclude<keyof S, OptionalNames<S>>]: Infer<S[Name]>;
} & {
  readonly [Name in OptionalNames<S>]?: Exclude<Infer<S[Name]>, undefined>;
};

/** Texts for a schema whose default `expected` is too general. */
export interface Wording {
  readonly expected?: string;
  readonly fix?: string;
}

export interface ObjectRules extends Wording {
  /** Names outside of the shape. Default: `refuse`, because a misspelt name would have no effect. */
  readonly otherNames?: "refuse" | "ignore";
}

export function object<const S extends Shape>(
  shape: S,
  { expected = "an object", fix, otherNames = "refuse" }: ObjectRules = {},
): Schema<ObjectOf<S>> {
  const schemas = Object.entries(shape);
  const names = Object.keys(shape);
  return (value, path) => {
    if (!isObject(value)) return throwInvalid({ path, value, expected, fix, code: "invalid_type" });
    // A misspelt name also leaves the intended name missing, so only the unknown names are reported.
    if (otherNames === "refuse") checkNames(value, path, names);
    const issues = new IssueCollector();
    const read: { [name: string]: unknown } = {};
    for (const [name, schema] of schemas) {
      try {
        const member = schema(readMember(value, name), joinPath(path, name));
        if (member !== undefined) read[name] = member;
      } catch (error) {
        issues.add(error);
      }
    }
    issues.throwIfAny();
    return read as ObjectOf<S>;
  };
}

function checkNames(
  value: { readonly [name: string]: unknown },
  path: string,
  names: readonly string[],
): void {
  const issues = new IssueCollector();
  for (const name of Object.keys(value)) {
    if (names.includes(name) || value[name] === undefined) continue;
    issues.attempt(() => throwUnknownName(path, name, names));
  }
  issues.throwIfAny();
}

/** An object with no other names than these. The values are not validated. */
export function members(names: readonly string[]): Schema<{ readonly [name: string]: unknown }> {
  return object(Object.fromEntries(names.map((name) => [name, anything])));
}

/** Reads an own member. Members of `Object.prototype` do not count. */
function readMember(value: { readonly [name: string]: unknown }, name: string): unknown {
  return name in Object.prototype && !Object.hasOwn(value, name) ? undefined : value[name];
}

export interface RecordRules extends Wording {
  readonly max?: number;
  /** Checks each name. `path` is the path of the entry. */
  readonly name?: (name: string, path: string) => void;
}

/** An object with arbitrary names. `__proto__` is a name like any other. */
export function record<Value>(
  entry: Schema<Value>,
  { max = Infinity, name: checkName, expected = "an object", fix }: RecordRules = {},
): Schema<{ readonly [name: string]: Value }> {
  return (value, path) => {
    if (!isObject(value)) return throwInvalid({ path, value, expected, fix, code: "invalid_type" });
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    checkCount(entries.length, max, path);
    const issues = new IssueCollector();
    const read: [string, Value][] = [];
    for (const [name, member] of entries) {
      const entryPath = joinPath(path, name);
      try {
        checkName?.(name, entryPath);
        read.push([name, entry(member, entryPath)]);
      } catch (error) {
        issues.add(error);
      }
    }
    issues.throwIfAny();
    return Object.fromEntries(read);
  };
}

export interface ArrayRules extends Wording {
  readonly min?: number;
  readonly max?: number;
}

export function array<Value>(
  item: Schema<Value>,
  { min = 0, max = Infinity, expected = "an array", fix }: ArrayRules = {},
): Schema<readonly Value[]> {
  return (value, path) => {
    if (!Array.isArray(value))
      return throwInvalid({ path, value, expected, fix, code: "invalid_type" });
    checkCount(value.length, max, path);
    if (value.length < min)
      throwProblem(path, `has ${value.length} entries: expected at least ${min}`, fix);
    const issues = new IssueCollector();
    const items: Value[] = [];
    for (const [at, entry] of value.entries()) {
      try {
        items.push(item(entry, `${path}[${at}]`));
      } catch (error) {
        issues.add(error);
      }
    }
    issues.throwIfAny();
    return items;
  };
}

function checkCount(count: number, max: number, path: string): void {
  if (count > max)
    throwProblem(
      path,
      `has ${count} entries: expected at most ${max}`,
      undefined,
      "too_many_entries",
    );
}

/** A single value, or an array with at least `min` values (default: 1). */
export function oneOrMore<Value>(
  item: Schema<Value>,
  rules: ArrayRules = {},
): Schema<readonly Value[]> {
  const list = array(item, { min: 1, ...rules });
  return (value, path) => (Array.isArray(value) ? list(value, path) : [item(value, path)]);
}

export interface StringRules extends Wording {
  /** In UTF-16 code units. */
  readonly max?: number;
  readonly pattern?: RegExp;
  /** True: refuses an empty string and a string of spaces. */
  readonly isFilled?: boolean;
  /** True: messages do not quote the value. */
  readonly isSecret?: boolean;
}

export function string(rules: StringRules = {}): Schema<string> {
  const { max = Infinity, pattern, isFilled = false, isSecret = false, fix } = rules;
  const { expected = isFilled ? "a string that is not empty" : "a string" } = rules;
  return (value, path) => {
    if (typeof value !== "string")
      return throwInvalid({ path, value, expected, fix, isSecret, code: "invalid_type" });
    if (value.length > max) {
      const problem = `has ${value.length} characters: expected at most ${max}`;
      throwProblem(path, problem, undefined, "string_too_long");
    }
    const isValid = (!isFilled || value.trim() !== "") && pattern?.test(value) !== false;
    return isValid ? value : throwInvalid({ path, value, expected, fix, isSecret });
  };
}

export function boolean(): Schema<boolean> {
  return (value, path) =>
    typeof value === "boolean"
      ? value
      : throwInvalid({ path, value, expected: "true or false", code: "invalid_type" });
}

export interface NumberRules extends Wording {
  readonly min?: number;
  readonly max?: number;
  /** Exclusive lower bound. */
  readonly above?: number;
}

/** A finite number: JSON has no other. */
export function number(rules: NumberRules = {}): Schema<number> {
  return createNumberSchema("a number", Number.isFinite, rules);
}

/** An integer with an exact double (a safe integer). */
export function integer(rules: NumberRules = {}): Schema<number> {
  return createNumberSchema("a whole number", Number.isSafeInteger, rules);
}

function createNumberSchema(
  kind: string,
  isOfKind: (value: number) => boolean,
  { min = -Infinity, max = Infinity, above = -Infinity, expected, fix }: NumberRules,
): Schema<number> {
  const range = expected ?? `${kind}${formatRange(min, max, above)}`;
  return (value, path) => {
    if (typeof value !== "number") return throwInvalid({ path, value, expected: range, fix });
    const isInRange = value >= min && value <= max && value > above;
    return isOfKind(value) && isInRange
      ? value
      : throwInvalid({ path, value, expected: range, fix });
  };
}

function formatRange(min: number, max: number, above: number): string {
  if (above !== -Infinity) return ` above ${above}`;
  if (max !== Infinity) return min === -Infinity ? ` up to ${max}` : ` from ${min} to ${max}`;
  return min === -Infinity ? "" : `, at least ${min}`;
}

/** Any of several strings. A similar string is suggested in the message. */
export function oneOf<const Choice extends string>(
  choices: readonly Choice[],
  { expected = formatChoices(choices), fix }: Wording = {},
): Schema<Choice> {
  return (value, path) =>
    choices.find((choice) => choice === value) ??
    throwInvalid({ path, value, expected, fix: fix ?? suggestFix(value, choices) });
}

/** An object whose member `tag` selects its schema. */
export function variants<const S extends { readonly [tag: string]: Schema<unknown> }>(
  tag: string,
  schemas: S,
  { expected = `an object with ${tag}`, fix }: Wording = {},
): Schema<Infer<S[keyof S]>> {
  const readTag = oneOf(Object.keys(schemas));
  return (value, path) => {
    if (!isObject(value)) return throwInvalid({ path, value, expected, fix, code: "invalid_type" });
    const schema: Schema<unknown> | undefined = schemas[readTag(value[tag], joinPath(path, tag))];
    return schema?.(value, path) as Infer<S[keyof S]>;
  };
}

/**
 * The result of the first schema that accepts the value. If one schema refuses only a part of the value, its problems are
 * reported. `expected` describes all schemas.
 */
export function union<Value>(
  expected: string,
  ...schemas: readonly Schema<Value>[]
): Schema<Value> {
  return (value, path) => {
    const nested: SchemaError[] = [];
    for (const schema of schemas) {
      try {
        return schema(value, path);
      } catch (error) {
        if (!(error instanceof SchemaError)) throw error;
        if (error.issues.every((issue) => isNested(issue, path))) nested.push(error);
      }
    }
    const [mismatch, ...others] = nested;
    if (mismatch !== undefined && others.length === 0) throw mismatch;
    return throwInvalid({ path, value, expected });
  };
}

/** True for a problem of a member or an entry: the type of the value itself matches. */
function isNested(issue: Issue, path: string): boolean {
  return issue.path.length > path.length && issue.path.startsWith(path);
}

export function optional<Value>(schema: Schema<Value>): OptionalSchema<Value> {
  const read: Schema<Value | undefined> = (value, path) =>
    value === undefined ? undefined : schema(value, path);
  return Object.assign(read, { isOptional: true as const });
}

export function withDefault<Value, const Default>(
  schema: Schema<Value>,
  defaultValue: Default,
): Schema<Value | Default> {
  return (value, path) => (value === undefined ? defaultValue : schema(value, path));
}

export function nullable<Value>(schema: Schema<Value>): Schema<Value | null> {
  return (value, path) => (value === null ? null : schema(value, path));
}

/** Absent and null are both read as null. */
export function nullish<Value>(schema: Schema<Value>): Schema<Value | null> {
  return withDefault(nullable(schema), null);
}

/** A schema with a second step. The step may return another value, or throw with `throwInvalid` or `throwProblem`. */
export function refine<Value, Result>(
  schema: Schema<Value>,
  step: (value: Value, path: string) => Result,
): Schema<Result> {
  return (value, path) => step(schema(value, path), path);
}

/** Any value, present or absent. The value is not validated. */
export const anything: OptionalSchema<unknown> = Object.assign((value: unknown) => value, {
  isOptional: true as const,
});

export interface JsonRules {
  /** Levels of nesting. */
  readonly maxDepth: number;
  /** Length as JSON text. Default: no limit. */
  readonly maxLength?: number;
  /** Sorts the names of objects, so equal values have equal text. Default: false. */
  readonly sortsNames?: boolean;
}

/** Any JSON value, copied. `__proto__` is a name like any other. */
export function json(rules: JsonRules): Schema<JsonValue> {
  const { maxDepth, maxLength = Infinity, sortsNames = false } = rules;
  const read = (value: unknown, path: string, levels: number): JsonValue => {
    if (levels === 0)
      return throwProblem(path, `is nested deeper than ${maxDepth} levels`, undefined, "too_deep");
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    if (Array.isArray(value))
      return value.map((item, at) => read(item, `${path}[${at}]`, levels - 1));
    if (!isObject(value))
      return throwInvalid({ path, value, expected: "a JSON value", code: "invalid_type" });
    const names = sortsNames ? Object.keys(value).sort() : Object.keys(value);
    return Object.fromEntries(
      names.map((name) => [name, read(value[name], joinPath(path, name), levels - 1)]),
    );
  };
  return (value, path) => {
    const result = read(value, path, maxDepth);
    if (maxLength !== Infinity && JSON.stringify(result).length > maxLength)
      throwProblem(path, `is too long: expected at most ${maxLength} characters as JSON`);
    return result;
  };
}
