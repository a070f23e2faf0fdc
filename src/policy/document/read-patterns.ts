import {
  SIDE_EFFECTS,
  TOOL_KINDS,
  type SideEffect,
  type ToolKind,
} from "../../domain/tool-traits.ts";
import { shown } from "../../domain/shown.ts";
import { problemWithPathPattern } from "../path-pattern.ts";
import { problemWithUrlPattern } from "../url-pattern.ts";
import { choiceAt, listAt, textAt, wrong } from "./fields.ts";
import { LONGEST, MOST } from "./limits.ts";

type ReadOne<Read> = (value: unknown, path: string) => Read;

/** One or several. A list of nothing would fit nothing, which nobody means. */
export function severalAt<Read>(value: unknown, path: string, readOne: ReadOne<Read>): Read[] {
  if (!Array.isArray(value)) return [readOne(value, path)];
  if (value.length === 0) throw wrong(path, "is an empty list, which fits no call");
  return listAt(value, path, MOST.patterns).map((one, at) => readOne(one, `${path}[${at}]`));
}

/** Tools, servers and capabilities: `*` and `?` are all that is special. */
export function namePatternAt(value: unknown, path: string): string {
  const pattern = patternAt(value, path);
  const [sign] = /[[\]{}()!|\\]/.exec(pattern) ?? [];
  if (sign === undefined) return pattern;
  throw wrong(path, `has ${sign}; in names only * and ? are special, so give several patterns`);
}

export function pathPatternAt(value: unknown, path: string): string {
  const pattern = patternAt(value, path);
  const problem = problemWithPathPattern(pattern);
  if (problem === undefined) return pattern;
  throw wrong(path, `is ${shown(pattern)}, which ${problem}`);
}

/** A rule that allows is compared with one simple command at a time, and would never fit more. */
export function commandPatternAt(value: unknown, path: string, isAllowing: boolean): string {
  const pattern = patternAt(value, path).trim().replaceAll(/ +/g, " ");
  const bare = pattern.replaceAll(/'[^']*'/g, "");
  const [sign] = /[;&|<>`"\\]|\$\(/.exec(bare) ?? [];
  if (!isAllowing || sign === undefined) return pattern;
  throw wrong(
    path,
    `has ${sign}; a rule that allows speaks of one simple command, with single quotes alone: list each command`,
  );
}

export function programPatternAt(value: unknown, path: string): string {
  const pattern = namePatternAt(value, path);
  if (!/\s/.test(pattern)) return pattern;
  throw wrong(path, "has a space; it is the name of a program, and command is for the whole");
}

export function urlPatternAt(value: unknown, path: string): string {
  const pattern = patternAt(value, path);
  const problem = problemWithUrlPattern(pattern);
  if (problem === undefined) return pattern;
  throw wrong(path, `is ${shown(pattern)}, which ${problem}`);
}

export function domainPatternAt(value: unknown, path: string): string {
  const pattern = patternAt(value, path).toLowerCase();
  if (pattern.startsWith(".")) throw wrong(path, `begins with a dot; write *${pattern}`);
  if (/^[a-z0-9*?._-]+$|^\[[0-9a-f:*]+\]$/.test(pattern)) return pattern.replace(/\.$/, "");
  throw wrong(
    path,
    `is ${shown(pattern)}, wanted a host alone, as in *.example.com, other alphabets as xn--`,
  );
}

export function methodAt(value: unknown, path: string): string {
  const method = patternAt(value, path).toUpperCase();
  if (/^[A-Z]+$/.test(method)) return method;
  throw wrong(path, `is ${shown(method)}, wanted a method such as GET`);
}

export function toolKindAt(value: unknown, path: string): ToolKind {
  return choiceAt(value, path, TOOL_KINDS);
}

export function sideEffectAt(value: unknown, path: string): SideEffect {
  return choiceAt(value, path, SIDE_EFFECTS);
}

export function patternAt(value: unknown, path: string, longest: number = LONGEST.pattern): string {
  const pattern = textAt(value, path, longest);
  if (/[\p{Cc}\uFFFC]|\p{Surrogate}/u.test(pattern))
    throw wrong(path, "has characters that cannot be seen");
  return pattern;
}
