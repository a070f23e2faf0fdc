import { posix } from "node:path";
import type { ToolSpec } from "../../src/domain/agent-spec.ts";
import type { JsonObject } from "../../src/data/json.ts";
import type { PathFact, PolicyDecision } from "../../src/domain/policy/policy-decision.ts";
import type { ToolTraits } from "../../src/domain/tools/tool-traits.ts";
import { createPolicyContext, readCallFacts } from "../../src/policy/facts/tool-call-facts.ts";
import { readPolicy } from "../../src/policy/document/read-policy.ts";
import { evaluatePolicy } from "../../src/policy/evaluate-policy.ts";
import type { PathArgument } from "../../src/policy/facts/path-arguments.ts";
import { mergePolicies } from "../../src/policy/merge-policies.ts";

/** A tool call as a session evaluates it. */
export interface Call {
  readonly tool: ToolSpec;
  readonly input: JsonObject;
  /** Resolved paths, by argument. Default: the path as written, in the workspace /work. */
  readonly leads?: { readonly [argument: string]: Partial<PathFact> };
  readonly repeats?: number;
}

/** Expected action and its source, for example `deny by rules:no-keys`. */
export type Expected = string;

export type Row = readonly [
  title: string,
  policy: object,
  call: Call,
  expected: Expected,
  labels?: readonly string[],
];

export function toolWith(name: string, traits?: ToolTraits): ToolSpec {
  const facts = { name, description: name, schema: {}, idempotent: false, timeoutMs: 1_000 };
  return traits === undefined ? facts : { ...facts, traits };
}

const READ = toolWith("read_file", {
  kind: "read",
  sideEffect: "read_only",
  paths: ["path"],
  capabilities: ["workspace.read_text"],
});
const EDIT = toolWith("edit_file", {
  kind: "edit",
  sideEffect: "workspace_write",
  paths: ["path", "paths"],
  capabilities: ["workspace.write_text"],
});
const RUN = toolWith("run_command", {
  kind: "execute",
  sideEffect: "process_exec",
  paths: ["cwd"],
  capabilities: ["process.exec"],
});
const FETCH = toolWith("web_fetch", { kind: "fetch", sideEffect: "network", paths: [] });

type More = Pick<Call, "leads" | "repeats">;

export function read(path: string, more: More = {}): Call {
  return { tool: READ, input: { path }, ...more };
}

export function edit(path: string, more: More = {}): Call {
  return { tool: EDIT, input: { path }, ...more };
}

export function editAll(...paths: string[]): Call {
  return { tool: EDIT, input: { paths } };
}

export function take(kind: "delete" | "move", path: string): Call {
  const traits = { kind, sideEffect: "workspace_write", paths: ["path"] } as const;
  return { tool: toolWith(`${kind}_path`, traits), input: { path } };
}

export function run(command: string, more: JsonObject = {}): Call {
  return { tool: RUN, input: { command, ...more } };
}

export function runWith(input: JsonObject): Call {
  return { tool: RUN, input };
}

export function fetchUrl(url: string, more: JsonObject = {}): Call {
  return { tool: FETCH, input: { url, ...more } };
}

/** A tool without declared traits. */
export function call(name: string, input: JsonObject = {}, more: More = {}): Call {
  return { tool: toolWith(name), input, ...more };
}

export function calling(tool: ToolSpec, input: JsonObject = {}, more: More = {}): Call {
  return { tool, input, ...more };
}

/** Evaluates a call. A list of policies is merged, outermost first. */
export function decide(
  policy: object,
  { tool, input, leads = {}, repeats = 0 }: Call,
): PolicyDecision {
  const [first, ...rest] = (Array.isArray(policy) ? policy : [policy]).map((one) =>
    readPolicy(one),
  );
  if (first === undefined) throw new Error("no policy");
  const merged = rest.reduce((outer, inner) => mergePolicies(outer, inner), first);
  const facts = readCallFacts(tool, input);
  const found = facts.pathArguments.map((one) => ({
    ...whereItLeads(one),
    ...leads[one.argument],
  }));
  return evaluatePolicy(merged, createPolicyContext(facts, found, repeats), input);
}

export function outcomeOf({ action, rule }: PolicyDecision): Expected {
  if (rule === null) return `${action} by default`;
  return `${action} by ${rule.source}${rule.id === null ? "" : `:${rule.id}`}`;
}

function whereItLeads({ argument, input }: PathArgument): PathFact {
  const hostPath = posix.resolve("/work", input);
  const base = { argument, input, hostPath };
  if (hostPath.startsWith("/data/spanline"))
    return { ...base, location: "protected", workspacePath: null };
  if (hostPath !== "/work" && !hostPath.startsWith("/work/"))
    return { ...base, location: "outside", workspacePath: null };
  return { ...base, location: "inside", workspacePath: hostPath.slice("/work/".length) };
}
