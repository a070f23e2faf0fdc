import { hasToolConditions } from "../matching/exact-matcher.ts";
import type { Matcher } from "../../domain/policy/policy.ts";
import { integer, members } from "../../data/schema-reader.ts";
import { throwInvalid, throwProblem } from "../../data/schema-error.ts";
import { readArgumentTests } from "./read-argument-tests.ts";
import {
  readCommandPattern,
  readDomainPattern,
  readMethod,
  readNamePattern,
  readPathPattern,
  readProgramPattern,
  patterns,
  readSideEffect,
  readToolKind,
  readUrlPattern,
} from "./read-patterns.ts";

type Reader<Read> = (value: unknown, path: string, isAllowing: boolean) => Read;

/** The reader of each key, by its name in the document. The order is the order of the keys in the parsed matcher. */
const READERS: { readonly [Key in keyof Matcher]-?: readonly [string, Reader<Matcher[Key]>] } = {
  tool: ["tool", patterns(readNamePattern)],
  toolKind: ["tool_kind", patterns(readToolKind)],
  sideEffect: ["side_effect", patterns(readSideEffect)],
  path: ["path", patterns((item, path) => readPathPattern(item, path))],
  command: [
    "command",
    (value, path, isAllowing) =>
      patterns((item, at) => readCommandPattern(item, at, isAllowing))(value, path),
  ],
  commandIdentity: ["command_identity", patterns(readProgramPattern)],
  url: ["url", patterns(readUrlPattern)],
  domain: ["domain", patterns(readDomainPattern)],
  method: ["method", patterns(readMethod)],
  mcpServer: ["mcp_server", patterns(readNamePattern)],
  mcpTool: ["mcp_tool", patterns(readNamePattern)],
  capability: ["capability", patterns(readNamePattern)],
  repeatCountAtLeast: ["repeat_count_at_least", integer({ min: 0, max: 1_000_000 })],
  args: ["args", readArgumentTests],
};

export const MATCHER_NAMES: readonly string[] = Object.values(READERS).map(([name]) => name);

/**
 * Reads the conditions of a rule: a tool or a list of tools, `true` for every tool call, or an object whose keys must
 * all match. `isAllowing`: the rule's action is `allow`, for which some conditions are refused as unsafe.
 */
export function readMatcher(value: unknown, path: string, isAllowing: boolean): Matcher {
  if (value === true) return {};
  // YAML parses a key without a value as null.
  if (value === null) throwProblem(path, "is empty", "write true for every call");
  if (typeof value === "string" || Array.isArray(value))
    return { tool: patterns(readNamePattern)(value, path) };
  if (typeof value !== "object")
    throwInvalid({ path, value, expected: "tools, an object, or true for every call" });
  const fields = members(MATCHER_NAMES)(value, path);
  if (Object.keys(fields).length === 0)
    throwProblem(path, "is empty: expected at least one name", "write true for every call");
  const read = Object.entries(READERS).flatMap(([key, [name, reader]]) =>
    Object.hasOwn(fields, name) ? [[key, reader(fields[name], `${path}.${name}`, isAllowing)]] : [],
  );
  const matcher: Matcher = Object.fromEntries(read);
  if (isAllowing) checkAllowMatcher(matcher, path);
  return matcher;
}

/**
 * An argument's meaning depends on the tool, and the model may add arguments to any tool call. A rule that allows by
 * arguments must therefore name its tools.
 */
function checkAllowMatcher(matcher: Matcher, path: string): void {
  const { args, method, repeatCountAtLeast } = matcher;
  const isLoose = args ?? method ?? repeatCountAtLeast;
  if (isLoose !== undefined && !hasToolConditions(matcher))
    throwProblem(`${path}.tool`, "is missing: expected the tool whose arguments the rule allows");
}
