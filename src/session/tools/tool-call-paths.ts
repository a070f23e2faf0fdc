import type { AgentSpec, ToolSpec } from "../../domain/agent-spec.ts";
import type { JsonObject } from "../../data/json.ts";
import { createUnresolvedPath, type PathFact } from "../../domain/policy/policy-decision.ts";
import { readCallFacts, type ToolCallFacts } from "../../policy/facts/tool-call-facts.ts";
import type { PathArgument } from "../../policy/facts/path-arguments.ts";

/**
 * Reads the facts of a call. Without a policy, approval lists do not consider paths: only arguments declared as paths
 * by the tool count.
 */
export function readToolCallFacts(
  tool: ToolSpec,
  input: JsonObject,
  { policy }: Pick<AgentSpec, "policy">,
): ToolCallFacts {
  const facts = readCallFacts(tool, input);
  const hasPaths = policy !== undefined || tool.traits?.paths !== undefined;
  if (hasPaths) return facts;
  const { pathsUnclear: _, ...context } = facts.context;
  return { context, pathArguments: [] };
}

/** Lists the path arguments which can be resolved. */
export function listPathsToResolve({ pathArguments }: ToolCallFacts): readonly PathArgument[] {
  return pathArguments.filter(({ problem }) => problem === undefined);
}

/** Returns the resolved paths in order of the arguments; undefined if one is missing. */
export function matchResolvedPaths(
  resolved: readonly PathFact[],
  facts: ToolCallFacts,
): readonly PathFact[] | undefined {
  const requested = listPathsToResolve(facts);
  const paths = requested.flatMap((path) =>
    resolved.filter((fact) => isSameArgument(fact, path)).slice(0, 1),
  );
  return paths.length === requested.length ? paths : undefined;
}

/** Like `matchResolvedPaths`, but a path omitted by the resolver counts as unresolvable. */
export function completeResolvedPaths(
  resolved: readonly PathFact[],
  facts: ToolCallFacts,
): readonly PathFact[] {
  return listPathsToResolve(facts).map((path): PathFact => {
    const fact = resolved.find((candidate) => isSameArgument(candidate, path));
    return fact ?? createUnresolvedPath(path, "it was not resolved");
  });
}

type PathArgumentKey = Pick<PathFact, "argument" | "input">;

function isSameArgument(fact: PathArgumentKey, path: PathArgumentKey): boolean {
  return fact.argument === path.argument && fact.input === path.input;
}
