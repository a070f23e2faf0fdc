import type { ToolSpec } from "../../domain/agent-spec.ts";
import { toJsonText, type JsonObject } from "../../data/json.ts";
import {
  createUnresolvedPath,
  type PathFact,
  type PolicyContext,
} from "../../domain/policy/policy-decision.ts";
import {
  SIDE_EFFECTS,
  TOOL_KINDS,
  type SideEffect,
  type ToolKind,
  type ToolTraits,
} from "../../domain/tools/tool-traits.ts";
import { readCommandFacts } from "../command/command-facts.ts";
import { readHttpMethod } from "./http-method.ts";
import { readPathArguments, type PathArgument } from "./path-arguments.ts";
import { readUrlFacts } from "./url-facts.ts";

/** What a call says by itself. Where its paths lead is found on the disk, and how often it was made in the log. */
export interface ToolCallFacts {
  readonly context: Omit<PolicyContext, "paths" | "repeats">;
  readonly pathArguments: readonly PathArgument[];
}

/** Reads a call in the words that rules speak of it. What a tool does not say of itself counts as the worst. */
export function readCallFacts(tool: ToolSpec, input: JsonObject): ToolCallFacts {
  const { name, traits } = tool;
  const { kind, sideEffect } = normalizeTraits(traits?.kind, traits?.sideEffect);
  const method = readHttpMethod(input);
  const context = {
    tool: name,
    kind,
    sideEffect,
    capabilities: [...(traits?.capabilities ?? [])],
    ...(mayRunCommands(kind, sideEffect) ? readCommandFacts(input) : {}),
    ...readUrlFacts(input),
    ...(method === undefined ? {} : { method }),
    ...readMcpFacts(name, traits),
  };
  const { paths, unclear } = readPathArguments(traits, input);
  const doubt = unclear === undefined ? {} : { pathsUnclear: unclear };
  return { context: { ...context, ...doubt }, pathArguments: paths };
}

/** All that the rules are asked about. An argument of which nobody said where it leads is no path. */
export function createPolicyContext(
  { context, pathArguments }: ToolCallFacts,
  resolvedPaths: readonly PathFact[],
  repeats: number,
): PolicyContext {
  const pathsByKey = new Map(resolvedPaths.map((fact) => [createPathKey(fact), fact]));
  const paths = pathArguments.map(({ argument, input, problem }): PathFact => {
    const fact = pathsByKey.get(createPathKey({ argument, input }));
    if (fact !== undefined && problem === undefined) return fact;
    return createUnresolvedPath({ argument, input }, problem ?? "nobody looked where it leads");
  });
  return { ...context, paths, repeats };
}

/** How often a call may have been made before: for whatever restricts it. */
export function maxRepeats({ repeats, uncountedRepeats = 0 }: PolicyContext): number {
  return repeats + uncountedRepeats;
}

function createPathKey({ argument, input }: Pick<PathFact, "argument" | "input">): string {
  return toJsonText([argument, input]);
}

/** The words of a tool's author, as far as we know them: any other may mean anything. */
export function normalizeTraits(
  kind: ToolKind | undefined,
  sideEffect: SideEffect | undefined,
): { kind: ToolKind; sideEffect: SideEffect } {
  const normalizedEffect = SIDE_EFFECTS.find((known) => known === sideEffect);
  if (normalizedEffect === undefined) return { kind: "other", sideEffect: "network" };
  return {
    kind: TOOL_KINDS.find((known) => known === kind) ?? "other",
    sideEffect: normalizedEffect,
  };
}

/** Elsewhere `command` is a word like any other. */
function mayRunCommands(kind: ToolKind, sideEffect: SideEffect): boolean {
  const isHarmless = ["none", "read_only", "workspace_write"].includes(sideEffect);
  return !isHarmless || kind === "execute" || kind === "other";
}

/** Only what the tool is says this: arguments are the model's, and it would name a server that is trusted. */
function readMcpFacts(
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
