import type { ToolFacts } from "../domain/agent-event.ts";
import { jsonText, type JsonObject } from "../domain/json.ts";
import { leadsNowhere, type PathFact, type PolicyContext } from "../domain/policy-decision.ts";
import {
  SIDE_EFFECTS,
  TOOL_KINDS,
  type SideEffect,
  type ToolKind,
  type ToolTraits,
} from "../domain/tool-traits.ts";
import { commandFacts } from "./command/command-facts.ts";
import { methodFact } from "./method-fact.ts";
import { pathArguments, type PathArgument } from "./path-arguments.ts";
import { urlFacts } from "./url-facts.ts";

/** What a call says by itself. Where its paths lead is found on the disk, and how often it was made in the log. */
export interface CallFacts {
  readonly context: Omit<PolicyContext, "paths" | "repeats">;
  readonly pathArguments: readonly PathArgument[];
}

/** Reads a call in the words that rules speak of it. What a tool does not say of itself counts as the worst. */
export function factsOf(tool: ToolFacts, input: JsonObject): CallFacts {
  const { name, traits } = tool;
  const { kind, sideEffect } = knownTraits(traits?.kind, traits?.sideEffect);
  const method = methodFact(input);
  const context = {
    tool: name,
    kind,
    sideEffect,
    capabilities: [...(traits?.capabilities ?? [])],
    ...(mayRunCommands(kind, sideEffect) ? commandFacts(input) : {}),
    ...urlFacts(input),
    ...(method === undefined ? {} : { method }),
    ...mcpFacts(name, traits),
  };
  const { paths, unclear } = pathArguments(traits, input);
  const doubt = unclear === undefined ? {} : { pathsUnclear: unclear };
  return { context: { ...context, ...doubt }, pathArguments: paths };
}

/** All that the rules are asked about. An argument of which nobody said where it leads is no path. */
export function contextOf(
  { context, pathArguments }: CallFacts,
  found: readonly PathFact[],
  repeats: number,
): PolicyContext {
  const known = new Map(found.map((fact) => [keyOf(fact), fact]));
  const paths = pathArguments.map(({ argument, input, problem }): PathFact => {
    const fact = known.get(keyOf({ argument, input }));
    if (fact !== undefined && problem === undefined) return fact;
    return leadsNowhere({ argument, input }, problem ?? "nobody looked where it leads");
  });
  return { ...context, paths, repeats };
}

/** How often a call may have been made before: for whatever restricts it. */
export function timesAtMost({ repeats, repeatsForgotten = 0 }: PolicyContext): number {
  return repeats + repeatsForgotten;
}

function keyOf({ argument, input }: Pick<PathFact, "argument" | "input">): string {
  return jsonText([argument, input]);
}

/** The words of a tool's author, as far as we know them: any other may mean anything. */
export function knownTraits(
  kind: ToolKind | undefined,
  sideEffect: SideEffect | undefined,
): { kind: ToolKind; sideEffect: SideEffect } {
  const knownEffect = SIDE_EFFECTS.find((one) => one === sideEffect);
  if (knownEffect === undefined) return { kind: "other", sideEffect: "network" };
  return { kind: TOOL_KINDS.find((one) => one === kind) ?? "other", sideEffect: knownEffect };
}

/** Elsewhere `command` is a word like any other. */
function mayRunCommands(kind: ToolKind, sideEffect: SideEffect): boolean {
  const isHarmless = ["none", "read_only", "workspace_write"].includes(sideEffect);
  return !isHarmless || kind === "execute" || kind === "other";
}

/** Only what the tool is says this: arguments are the model's, and it would name a server that is trusted. */
function mcpFacts(
  name: string,
  traits: ToolTraits | undefined,
): Pick<PolicyContext, "mcpServer" | "mcpTool"> {
  const executor = traits?.executor;
  const [, mcpServer, mcpTool] = /^([^]+?)__([^]+)$/.exec(name) ?? [];
  if (executor?.type === "mcp" || (executor?.type === "host" && executor.server !== undefined)) {
    const { server, tool = mcpTool ?? name } = executor;
    return { ...(server !== undefined && { mcpServer: server }), mcpTool: tool };
  }
  if (executor !== undefined || mcpServer === undefined || mcpTool === undefined) return {};
  return { mcpServer, mcpTool };
}
