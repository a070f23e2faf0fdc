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
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Facts known from the call alone. Path locations are resolved on the disk, and repeats are counted in the log. */
export interface ToolCallFacts {
  readonly context: Omit<PolicyContext, "paths" | "repeats">;
  readonly pathArguments: readonly PathArgument[];
}

/** Reads the facts which rules match. A trait not declared by the tool counts as the most dangerous value. */
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
    ...omitUndefined({ method }),
    ...readMcpFacts(name, traits),
  };
  const { paths, unclear } = readPathArguments(traits, input);
  const doubt = unclear === undefined ? {} : { pathsUnclear: unclear };
  return { context: { ...context, ...doubt }, pathArguments: paths };
}

/** Combines all facts for the evaluation. A path argument without a resolved location counts as an invalid path. */
export function createPolicyContext(
  { context, pathArguments }: ToolCallFacts,
  resolvedPaths: readonly PathFact[],
  repeats: number,
): PolicyContext {
  const pathsByKey = new Map(resolvedPaths.map((fact) => [createPathKey(fact), fact]));
  const paths = pathArguments.map(({ argument, input, problem }): PathFact => {
    const fact = pathsByKey.get(createPathKey({ argument, input }));
    if (fact !== undefined && problem === undefined) return fact;
    return createUnresolvedPath({ argument, input }, problem ?? "it was not resolved");
  });
  return { ...context, paths, repeats };
}

/**
 * Upper bound of earlier identical calls, for restrictions: includes calls which are no longer counted individually.
 */
export function computeMaxRepeats({ repeats, uncountedRepeats = 0 }: PolicyContext): number {
  return repeats + uncountedRepeats;
}

function createPathKey({ argument, input }: Pick<PathFact, "argument" | "input">): string {
  return toJsonText([argument, input]);
}

/** Keeps declared traits known to this version; any other value counts as the most dangerous. */
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

/** For all other tools, `command` is an ordinary argument. */
function mayRunCommands(kind: ToolKind, sideEffect: SideEffect): boolean {
  const isHarmless = ["none", "read_only", "workspace_write"].includes(sideEffect);
  return !isHarmless || kind === "execute" || kind === "other";
}

/**
 * Read only from the tool's declaration and name. Arguments are chosen by the model, which could name a trusted server.
 */
function readMcpFacts(
  name: string,
  traits: ToolTraits | undefined,
): Pick<PolicyContext, "mcpServer" | "mcpTool"> {
  const executor = traits?.executor;
  const [, mcpServer, mcpTool] = /^([^]+?)__([^]+)$/.exec(name) ?? [];
  if (executor?.type === "mcp" || (executor?.type === "host" && executor.server !== undefined)) {
    const { server, tool = mcpTool ?? name } = executor;
    return { ...omitUndefined({ mcpServer: server }), mcpTool: tool };
  }
  if (executor !== undefined || mcpServer === undefined || mcpTool === undefined) return {};
  return { mcpServer, mcpTool };
}
