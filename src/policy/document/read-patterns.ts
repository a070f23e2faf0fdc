import {
  SIDE_EFFECTS,
  TOOL_KINDS,
  type SideEffect,
  type ToolKind,
} from "../../domain/tools/tool-traits.ts";
import { formatValue } from "../../text/format-value.ts";
import { findPathPatternProblem } from "../matching/path-pattern.ts";
import { findUrlPatternProblem } from "../matching/url-pattern.ts";
import { readChoice, readList, readString, createPolicyError } from "./read-fields.ts";
import { MAX_LENGTHS, MAX_COUNTS } from "./policy-limits.ts";

type ReadItem<Read> = (value: unknown, path: string) => Read;

/** One or several. A list of nothing would fit nothing, which nobody means. */
export function readOneOrMore<Read>(
  value: unknown,
  path: string,
  readItem: ReadItem<Read>,
): Read[] {
  if (!Array.isArray(value)) return [readItem(value, path)];
  if (value.length === 0) throw createPolicyError(path, "is an empty list, which fits no call");
  return readList(value, path, MAX_COUNTS.patterns).map((item, at) =>
    readItem(item, `${path}[${at}]`),
  );
}

/** Tools, servers and capabilities: `*` and `?` are all that is special. */
export function readNamePattern(value: unknown, path: string): string {
  const pattern = readPattern(value, path);
  const [sign] = /[[\]{}()!|\\]/.exec(pattern) ?? [];
  if (sign === undefined) return pattern;
  throw createPolicyError(
    path,
    `has ${sign}; in names only * and ? are special, so give several patterns`,
  );
}

export function readPathPattern(value: unknown, path: string): string {
  const pattern = readPattern(value, path);
  const problem = findPathPatternProblem(pattern);
  if (problem === undefined) return pattern;
  throw createPolicyError(path, `is ${formatValue(pattern)}, which ${problem}`);
}

/** A rule that allows is compared with one simple command at a time, and would never fit more. */
export function readCommandPattern(value: unknown, path: string, isAllowing: boolean): string {
  const pattern = readPattern(value, path).trim().replaceAll(/ +/g, " ");
  const bare = pattern.replaceAll(/'[^']*'/g, "");
  const [sign] = /[;&|<>`"\\]|\$\(/.exec(bare) ?? [];
  if (!isAllowing || sign === undefined) return pattern;
  throw createPolicyError(
    path,
    `has ${sign}; a rule that allows speaks of one simple command, with single quotes alone: list each command`,
  );
}

export function readProgramPattern(value: unknown, path: string): string {
  const pattern = readNamePattern(value, path);
  if (!/\s/.test(pattern)) return pattern;
  throw createPolicyError(
    path,
    "has a space; it is the name of a program, and command is for the whole",
  );
}

export function readUrlPattern(value: unknown, path: string): string {
  const pattern = readPattern(value, path);
  const problem = findUrlPatternProblem(pattern);
  if (problem === undefined) return pattern;
  throw createPolicyError(path, `is ${formatValue(pattern)}, which ${problem}`);
}

export function readDomainPattern(value: unknown, path: string): string {
  const pattern = readPattern(value, path).toLowerCase();
  if (pattern.startsWith("."))
    throw createPolicyError(path, `begins with a dot; write *${pattern}`);
  if (/^[a-z0-9*?._-]+$|^\[[0-9a-f:*]+\]$/.test(pattern)) return pattern.replace(/\.$/, "");
  throw createPolicyError(
    path,
    `is ${formatValue(pattern)}, wanted a host alone, as in *.example.com, other alphabets as xn--`,
  );
}

export function readMethod(value: unknown, path: string): string {
  const method = readPattern(value, path).toUpperCase();
  if (/^[A-Z]+$/.test(method)) return method;
  throw createPolicyError(path, `is ${formatValue(method)}, wanted a method such as GET`);
}

export function readToolKind(value: unknown, path: string): ToolKind {
  return readChoice(value, path, TOOL_KINDS);
}

export function readSideEffect(value: unknown, path: string): SideEffect {
  return readChoice(value, path, SIDE_EFFECTS);
}

export function readPattern(
  value: unknown,
  path: string,
  maxLength: number = MAX_LENGTHS.pattern,
): string {
  const pattern = readString(value, path, maxLength);
  if (/[\p{Cc}\uFFFC]|\p{Surrogate}/u.test(pattern))
    throw createPolicyError(path, "has characters that cannot be seen");
  return pattern;
}
