import { shown } from "../../domain/shown.ts";
import { namesTools } from "../exact-matcher.ts";
import type { Matcher } from "../../domain/policy.ts";
import { countAt, fieldsAt, wrong } from "./fields.ts";
import { readArgumentTests } from "./read-argument-tests.ts";
import {
  commandPatternAt,
  domainPatternAt,
  methodAt,
  namePatternAt,
  pathPatternAt,
  programPatternAt,
  severalAt,
  sideEffectAt,
  toolKindAt,
  urlPatternAt,
} from "./read-patterns.ts";

type Reader<Read> = (value: unknown, path: string, isAllowing: boolean) => Read;

/** How each key is read; those of a matcher stand in this order. */
const READERS: { readonly [Key in keyof Matcher]-?: readonly [string, Reader<Matcher[Key]>] } = {
  tool: ["tool", several(namePatternAt)],
  toolKind: ["tool_kind", several(toolKindAt)],
  sideEffect: ["side_effect", several(sideEffectAt)],
  path: ["path", several((one, path) => pathPatternAt(one, path))],
  command: [
    "command",
    (value, path, isAllowing) =>
      severalAt(value, path, (one, at) => commandPatternAt(one, at, isAllowing)),
  ],
  commandIdentity: ["command_identity", several(programPatternAt)],
  url: ["url", several(urlPatternAt)],
  domain: ["domain", several(domainPatternAt)],
  method: ["method", several(methodAt)],
  mcpServer: ["mcp_server", several(namePatternAt)],
  mcpTool: ["mcp_tool", several(namePatternAt)],
  capability: ["capability", several(namePatternAt)],
  repeatCountAtLeast: [
    "repeat_count_at_least",
    (value, path) => countAt(value, path, 0, 1_000_000),
  ],
  args: ["args", readArgumentTests],
};

export const MATCHER_NAMES: readonly string[] = Object.values(READERS).map(([name]) => name);

function several<Read>(readOne: (value: unknown, path: string) => Read): Reader<Read[]> {
  return (value, path) => severalAt(value, path, readOne);
}

/** Reads which calls a rule is about: tools for short, true for all, or a key for each thing that has to fit. */
export function readMatcher(value: unknown, path: string, isAllowing: boolean): Matcher {
  if (value === true) return {};
  // What YAML makes of a key with nothing after it.
  if (value === null) throw wrong(path, "is empty; write true for every call");
  if (typeof value === "string" || Array.isArray(value))
    return { tool: severalAt(value, path, namePatternAt) };
  if (typeof value !== "object") {
    throw wrong(path, `is ${shown(value)}, wanted tools, an object, or true for every call`);
  }
  const fields = fieldsAt(value, path, MATCHER_NAMES);
  if (fields.size === 0) throw wrong(path, "names nothing; true stands for every call");
  const read = Object.entries(READERS).flatMap(([key, [name, reader]]) =>
    fields.has(name) ? [[key, reader(fields.get(name), `${path}.${name}`, isAllowing)]] : [],
  );
  const matcher: Matcher = Object.fromEntries(read);
  if (isAllowing) refuseLooseAllowance(matcher, path);
  return matcher;
}

/** What an argument means depends on the tool, and the model may add one to any call. */
function refuseLooseAllowance(matcher: Matcher, path: string): void {
  const { args, method, repeatCountAtLeast } = matcher;
  const isLoose = args ?? method ?? repeatCountAtLeast;
  if (isLoose !== undefined && !namesTools(matcher))
    throw wrong(
      `${path}.tool`,
      "is missing; a rule that allows by arguments has to say for which tool",
    );
}
