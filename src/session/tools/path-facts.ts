import type { AgentFacts, ToolFacts } from "../../domain/agent-event.ts";
import type { JsonObject } from "../../domain/json.ts";
import { leadsNowhere, type PathFact } from "../../domain/policy-decision.ts";
import { factsOf, type CallFacts } from "../../policy/call-facts.ts";
import type { PathArgument } from "../../policy/path-arguments.ts";

/**
 * What a call says by itself. Lists of tools speak of no paths: for an agent that has nothing else, an argument is one
 * only where its tool says so.
 */
export function callFacts(
  tool: ToolFacts,
  input: JsonObject,
  { policy }: Pick<AgentFacts, "policy">,
): CallFacts {
  const facts = factsOf(tool, input);
  const hasPaths = policy !== undefined || tool.traits?.paths !== undefined;
  if (hasPaths) return facts;
  const { pathsUnclear: _, ...context } = facts.context;
  return { context, pathArguments: [] };
}

/** Those that can be looked for. */
export function pathsToFind({ pathArguments }: CallFacts): readonly PathArgument[] {
  return pathArguments.filter(({ problem }) => problem === undefined);
}

/** What was found of the paths in a call's arguments, in their order; undefined where one was not looked at. */
export function knownPaths(
  found: readonly PathFact[],
  facts: CallFacts,
): readonly PathFact[] | undefined {
  const wanted = pathsToFind(facts);
  const paths = wanted.flatMap((path) => found.filter((fact) => isAbout(fact, path)).slice(0, 1));
  return paths.length === wanted.length ? paths : undefined;
}

/** The same, where whoever looked may have left one out: that leads nowhere. */
export function allPaths(found: readonly PathFact[], facts: CallFacts): readonly PathFact[] {
  return pathsToFind(facts).map((path): PathFact => {
    const fact = found.find((one) => isAbout(one, path));
    return fact ?? leadsNowhere(path, "nobody looked where it leads");
  });
}

type Path = Pick<PathFact, "argument" | "input">;

function isAbout(fact: Path, path: Path): boolean {
  return fact.argument === path.argument && fact.input === path.input;
}
