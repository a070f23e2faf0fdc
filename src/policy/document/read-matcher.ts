import { formatValue } from "../../text/format-value.ts";
import { namesTools } from "../matching/exact-matcher.ts";
import type { Matcher } from "../../domain/policy/policy.ts";
import { readInteger, readFields, createPolicyError } from "./read-fields.ts";
import { readArgumentTests } from "./read-argument-tests.ts";
import {
  readCommandPattern,
  readDomainPattern,
  readMethod,
  readNamePattern,
  readPathPattern,
  readProgramPattern,
  readOneOrMore,
  readSideEffect,
  readToolKind,
  readUrlPattern,
} from "./read-patterns.ts";

type Reader<Read> = (value: unknown, path: string, isAllowing: boolean) => Read;

/** How each key is read; those of a matcher stand in this order. */
const READERS: { readonly [Key in keyof Matcher]-?: readonly [string, Reader<Matcher[Key]>] } = {
  tool: ["tool", createListReader(readNamePattern)],
  toolKind: ["tool_kind", createListReader(readToolKind)],
  sideEffect: ["side_effect", createListReader(readSideEffect)],
  path: ["path", createListReader((item, path) => readPathPattern(item, path))],
  command: [
    "command",
    (value, path, isAllowing) =>
      readOneOrMore(value, path, (item, at) => readCommandPattern(item, at, isAllowing)),
  ],
  commandIdentity: ["command_identity", createListReader(readProgramPattern)],
  url: ["url", createListReader(readUrlPattern)],
  domain: ["domain", createListReader(readDomainPattern)],
  method: ["method", createListReader(readMethod)],
  mcpServer: ["mcp_server", createListReader(readNamePattern)],
  mcpTool: ["mcp_tool", createListReader(readNamePattern)],
  capability: ["capability", createListReader(readNamePattern)],
  repeatCountAtLeast: [
    "repeat_count_at_least",
    (value, path) => readInteger(value, path, 0, 1_000_000),
  ],
  args: ["args", readArgumentTests],
};

export const MATCHER_NAMES: readonly string[] = Object.values(READERS).map(([name]) => name);

function createListReader<Read>(readItem: (value: unknown, path: string) => Read): Reader<Read[]> {
  return (value, path) => readOneOrMore(value, path, readItem);
}

/** Reads which calls a rule is about: tools for short, true for all, or a key for each thing that has to fit. */
export function readMatcher(value: unknown, path: string, isAllowing: boolean): Matcher {
  if (value === true) return {};
  // What YAML makes of a key with nothing after it.
  if (value === null) throw createPolicyError(path, "is empty; write true for every call");
  if (typeof value === "string" || Array.isArray(value))
    return { tool: readOneOrMore(value, path, readNamePattern) };
  if (typeof value !== "object") {
    throw createPolicyError(
      path,
      `is ${formatValue(value)}, wanted tools, an object, or true for every call`,
    );
  }
  const fields = readFields(value, path, MATCHER_NAMES);
  if (fields.size === 0) throw createPolicyError(path, "names nothing; true stands for every call");
  const read = Object.entries(READERS).flatMap(([key, [name, reader]]) =>
    fields.has(name) ? [[key, reader(fields.get(name), `${path}.${name}`, isAllowing)]] : [],
  );
  const matcher: Matcher = Object.fromEntries(read);
  if (isAllowing) checkAllowMatcher(matcher, path);
  return matcher;
}

/** What an argument means depends on the tool, and the model may add one to any call. */
function checkAllowMatcher(matcher: Matcher, path: string): void {
  const { args, method, repeatCountAtLeast } = matcher;
  const isLoose = args ?? method ?? repeatCountAtLeast;
  if (isLoose !== undefined && !namesTools(matcher))
    throw createPolicyError(
      `${path}.tool`,
      "is missing; a rule that allows by arguments has to say for which tool",
    );
}
