import { isObject, toJsonText } from "../../data/json.ts";
import { SpanlineError } from "../../domain/errors.ts";

/**
 * Throws `invalid_option` before any request is sent. `path` names the field as written by the caller. The message starts
 * with the path, because the command line replaces the path by the name of its option.
 */
export function throwInvalidOption(path: string, actual: unknown, expected: string): never {
  const formattedValue =
    actual === undefined ? "missing" : toJsonText(actual).slice(0, MAX_QUOTED_CHARACTERS);
  const message = `${path} is ${formattedValue}: expected ${expected}`;
  throw new SpanlineError("invalid_option", message, { details: { path } });
}

const MAX_QUOTED_CHARACTERS = 120;

export function checkString(
  path: string,
  value: unknown,
  pattern: RegExp,
  expected: string,
): string {
  return typeof value === "string" && pattern.test(value)
    ? value
    : throwInvalidOption(path, value, expected);
}

export function checkLength(path: string, value: string, maxLength: number): string {
  if (value.length <= maxLength && /^[\t\x20-\x7e]*$/.test(value)) return value;
  return throwInvalidOption(path, value, `at most ${maxLength} printable ASCII characters`);
}

export function checkCount(path: string, value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0
    ? value
    : throwInvalidOption(path, value, "a whole number above 0");
}

/**
 * Checks a union of the service: an object with exactly one member. The member's name is not checked, because the
 * service may add members.
 */
export function checkUnion(path: string, value: unknown): void {
  const members = isObject(value)
    ? Object.keys(value).filter((name) => value[name] !== undefined)
    : [];
  if (members.length === 1) return;
  throwInvalidOption(path, value, `exactly one member, not ${members.length}`);
}

export function checkList(path: string, value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : throwInvalidOption(path, value, "a list");
}

const PARTITION = "arn:aws[a-z-]*:bedrock-agentcore";

export function checkHarnessArn(path: string, arn: unknown): string {
  const pattern = new RegExp(
    `^${PARTITION}:[a-z0-9-]+:\\d{12}:harness/[a-zA-Z][a-zA-Z0-9_]{0,39}-[a-zA-Z0-9]{10}$`,
  );
  const expected =
    "the ARN of a harness, such as arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/name-a1b2c3d4e5";
  return checkString(path, arn, pattern, expected);
}

/** Checks the ARN of an agent runtime deployed by the user. */
export function checkAgentArn(path: string, arn: unknown): string {
  const pattern = new RegExp(`^${PARTITION}:[a-z0-9-]+:\\d{12}:runtime/[\\w-]{1,100}$`);
  return checkString(path, arn, pattern, RUNTIME_RULE);
}

const RUNTIME_RULE =
  "the ARN of an agent runtime, such as arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/name-a1b2c3d4e5";

/**
 * Checks the ARN for stopping a session or running a command. A harness accepts its own ARN or the ARN of its runtime.
 */
export function checkRuntimeArn(path: string, arn: unknown): string {
  const pattern = new RegExp(`^${PARTITION}:[a-z0-9-]+:\\d{12}:(?:runtime|harness)/[\\w-]{1,100}$`);
  return checkString(path, arn, pattern, RUNTIME_RULE);
}

export function checkQualifier(path: string, qualifier: unknown): string {
  const expected = "the name of an endpoint: a letter, then up to 47 letters, digits and _";
  return checkString(path, qualifier, /^[a-zA-Z][a-zA-Z0-9_]{0,47}$/, expected);
}

export function checkSessionId(path: string, id: unknown): string {
  const expected =
    "33 to 100 letters, digits, - and _, the first a letter or digit; omit it to generate an id";
  return checkString(path, id, /^[a-zA-Z0-9][a-zA-Z0-9_-]{32,99}$/, expected);
}
