import type { AgentSpec, ToolSpec } from "../../domain/agent-spec.ts";
import type { JsonObject } from "../../data/json.ts";
import { createUnresolvedPath, type PathFact } from "../../domain/policy/policy-decision.ts";
import { readCallFacts, type ToolCallFacts } from "../../policy/facts/tool-call-facts.ts";
import type { PathArgument } from "../../policy/facts/path-arguments.ts";

/**
 * What a call says by itself. Lists of tools speak of no paths: for an agent that has nothing else, an argument is one
 * only where its tool says so.
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

/** Those that can be looked for. */
export function listPathsToResolve({ pathArguments }: ToolCallFacts): readonly PathArgument[] {
  return pathArguments.filter(({ problem }) => problem === undefined);
}

/** What was found of the paths in a call's arguments, in their order; undefined where one was not looked at. */
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

/** The same, where whoever looked may have left one out: that leads nowhere. */
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
