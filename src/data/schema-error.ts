import { formatValue } from "../text/format-value.ts";
import { formatUnknownName } from "../text/unknown-name.ts";

/** A missing value has the code `invalid_type` or `invalid_value`, like any other wrong value. */
export type IssueCode =
  | "invalid_type"
  | "invalid_value"
  | "unknown_name"
  | "string_too_long"
  | "too_many_entries"
  | "too_deep";

/** A problem with a value. */
export interface Issue {
  /** Path of the value, such as `serve.keys[0].name`. Empty for the outermost value. */
  readonly path: string;
  readonly code: IssueCode;
  /** A whole sentence that names the path, without a full stop. */
  readonly message: string;
}

/** Thrown by a schema. The caller converts the error for its own interface. */
export class SchemaError extends Error {
  readonly issues: readonly [Issue, ...Issue[]];

  constructor(issues: readonly [Issue, ...Issue[]]) {
    super(formatIssues(issues));
    this.name = "SchemaError";
    this.issues = issues;
  }
}

function formatIssues(issues: readonly Issue[]): string {
  const messages = issues.slice(0, MAX_REPORTED).map(({ message }) => message);
  return messages.reduce((text, message) => `${text}${text.endsWith("?") ? "" : "."} ${message}`);
}

const MAX_REPORTED = 5;

/** Collects the issues of an object or array, so a single read reports several issues. */
export class IssueCollector {
  readonly #issues: Issue[] = [];

  /** Undefined if the reader throws a `SchemaError`. */
  attempt<Value>(read: () => Value): Value | undefined {
    try {
      return read();
    } catch (error) {
      this.add(error);
      return undefined;
    }
  }

  /**
   * Adds the issues of a `SchemaError` and rethrows any other error. Throws the collected issues at 20: a request may
   * have a million.
   */
  add(error: unknown): void {
    if (!(error instanceof SchemaError)) throw error;
    this.#issues.push(...error.issues);
    if (this.#issues.length >= MAX_ISSUES) this.throwIfAny();
  }

  throwIfAny(): void {
    const [first, ...rest] = this.#issues;
    if (first !== undefined) throw new SchemaError([first, ...rest.slice(0, MAX_ISSUES - 1)]);
  }
}

const MAX_ISSUES = 20;

export interface InvalidValue {
  readonly path: string;
  readonly value: unknown;
  /** Completes the phrase "expected …". */
  readonly expected: string;
  /** How to solve the problem. Absent if `expected` is enough. */
  readonly fix?: string | undefined;
  readonly code?: IssueCode;
  /** True: the message does not quote the value. */
  readonly isSecret?: boolean;
}

/** The standard wording for an invalid value: `X is not a valid Y: expected Z. Fix: …`. */
export function throwInvalid(invalid: InvalidValue): never {
  const { path, value, expected, fix, code, isSecret } = invalid;
  const isMissing = value === undefined;
  const name = shortenPath(path);
  const shownValue = isSecret === true ? "the value" : formatValue(value);
  const problem = isMissing
    ? `${name === "" ? "The value" : name} is missing`
    : `${capitalize(shownValue)} is not ${name === "" ? "valid" : `a valid ${name}`}`;
  throwIssue({
    path,
    code: code ?? "invalid_value",
    message: `${problem}: expected ${expected}${formatFix(fix)}`,
  });
}

/** For a problem without a single expected value. `problem` completes the sentence started by the path. */
export function throwProblem(
  path: string,
  problem: string,
  fix?: string,
  code: IssueCode = "invalid_value",
): never {
  const message = `${shortenPath(path) || "The value"} ${problem}${formatFix(fix)}`;
  throwIssue({ path, code, message });
}

export function throwUnknownName(path: string, name: string, names: readonly string[]): never {
  const fullPath = joinPath(path, name);
  const message = formatUnknownName("Key", name, { names, path: fullPath });
  throwIssue({ path: fullPath, code: "unknown_name", message });
}

/** `a, b or c`. */
export function formatChoices(choices: readonly string[]): string {
  return choices.length < 2
    ? (choices[0] ?? "none")
    : `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}

export function joinPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function throwIssue(issue: Issue): never {
  throw new SchemaError([{ ...issue, path: shortenPath(issue.path) }]);
}

function formatFix(fix: string | undefined): string {
  return fix === undefined ? "" : `. Fix: ${fix}`;
}

/** Capitalizes `an array` at the start of a sentence. Literals such as `null` and `true` stay as in code. */
function capitalize(text: string): string {
  return /^(?:an?|the) /.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text;
}

/** Shortens a path, because the sender chooses the length of the names. */
function shortenPath(path: string): string {
  return path.length <= MAX_PATH ? path : `${path.slice(0, MAX_PATH)}…`;
}

const MAX_PATH = 200;
