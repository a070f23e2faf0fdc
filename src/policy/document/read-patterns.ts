import {
  SIDE_EFFECTS,
  TOOL_KINDS,
  type SideEffect,
  type ToolKind,
} from "../../domain/tools/tool-traits.ts";
import { formatValue } from "../../text/format-value.ts";
import { findPathPatternProblem } from "../matching/path-pattern.ts";
import { findUrlPatternProblem } from "../matching/url-pattern.ts";
import { oneOf, oneOrMore, string, type Schema } from "../../data/schema-reader.ts";
import { throwInvalid, throwProblem } from "../../data/schema-error.ts";
import { MAX_LENGTHS, MAX_COUNTS } from "./policy-limits.ts";

/** Reads a pattern or a list of patterns. An empty list is refused, because no tool call would match. */
export function patterns<Read>(item: Schema<Read>): Schema<readonly Read[]> {
  return oneOrMore(item, { max: MAX_COUNTS.patterns });
}

/** Reads a pattern for names of tools, servers and capabilities. Only `*` and `?` are special. */
export function readNamePattern(value: unknown, path: string): string {
  const pattern = readPattern(value, path);
  const [sign] = /[[\]{}()!|\\]/.exec(pattern) ?? [];
  if (sign === undefined) return pattern;
  return throwProblem(
    path,
    `has ${sign}: in names only * and ? are special`,
    "list several patterns",
  );
}

export function readPathPattern(value: unknown, path: string): string {
  const pattern = readPattern(value, path);
  const problem = findPathPatternProblem(pattern);
  if (problem === undefined) return pattern;
  return throwProblem(path, `is ${formatValue(pattern)}, which ${problem}`);
}

/**
 * Reads a command pattern. A rule that allows is compared with one simple command at a time, so a pattern with
 * operators would never match and is refused.
 */
export function readCommandPattern(value: unknown, path: string, isAllowing: boolean): string {
  const pattern = readPattern(value, path).trim().replaceAll(/ +/g, " ");
  const bare = pattern.replaceAll(/'[^']*'/g, "");
  const [sign] = /[;&|<>`"\\]|\$\(/.exec(bare) ?? [];
  if (!isAllowing || sign === undefined) return pattern;
  return throwProblem(
    path,
    `has ${sign}: a rule that allows matches one simple command, with single quotes alone`,
    "list each command",
  );
}

export function readProgramPattern(value: unknown, path: string): string {
  const pattern = readNamePattern(value, path);
  if (!/\s/.test(pattern)) return pattern;
  return throwProblem(
    path,
    "has a space: expected the name of a program",
    "match the whole command with command",
  );
}

export function readUrlPattern(value: unknown, path: string): string {
  const pattern = readPattern(value, path);
  const problem = findUrlPatternProblem(pattern);
  if (problem === undefined) return pattern;
  return throwProblem(path, `is ${formatValue(pattern)}, which ${problem}`);
}

export function readDomainPattern(value: unknown, path: string): string {
  const pattern = readPattern(value, path).toLowerCase();
  if (pattern.startsWith(".")) throwProblem(path, "begins with a dot", `write *${pattern}`);
  if (/^[a-z0-9*?._-]+$|^\[[0-9a-f:*]+\]$/.test(pattern)) return pattern.replace(/\.$/, "");
  const expected = "a host alone, as in *.example.com, other alphabets as xn--";
  return throwInvalid({ path, value: pattern, expected });
}

export function readMethod(value: unknown, path: string): string {
  const method = readPattern(value, path).toUpperCase();
  if (/^[A-Z]+$/.test(method)) return method;
  return throwInvalid({ path, value: method, expected: "a method such as GET" });
}

export const readToolKind: Schema<ToolKind> = oneOf(TOOL_KINDS);

export const readSideEffect: Schema<SideEffect> = oneOf(SIDE_EFFECTS);

export function readPattern(
  value: unknown,
  path: string,
  maxLength: number = MAX_LENGTHS.pattern,
): string {
  const pattern = string({ isFilled: true, max: maxLength })(value, path);
  if (/[\p{Cc}\uFFFC]|\p{Surrogate}/u.test(pattern))
    throwProblem(path, "has characters that cannot be seen");
  return pattern;
}
