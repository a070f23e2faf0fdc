import type { AgentSpec, ToolSpec } from "../../domain/agent-spec.ts";
import type { JsonObject } from "../../data/json.ts";
import type { PolicyContext, PolicyDecision } from "../../domain/policy/policy-decision.ts";
import { digestValue } from "../../platform/digest.ts";
import { createPolicyContext, type ToolCallFacts } from "../../policy/facts/tool-call-facts.ts";
import { evaluatePolicy } from "../../policy/evaluate-policy.ts";
import { readToolCallFacts, matchResolvedPaths } from "./tool-call-paths.ts";
import { resolvePolicy } from "./resolve-policy.ts";
import { countRepeats } from "./tool-call-counts.ts";
import type { ToolRun, ToolsState } from "./tools-state.ts";

export type ToolCallEvaluation =
  /** The call cannot run; `message` is for the model. */
  | { readonly verdict: "refuse"; readonly message: string }
  /** The paths in its arguments must be resolved first. */
  | { readonly verdict: "resolve-paths" }
  | { readonly verdict: "decide"; readonly decision: PolicyDecision; readonly digest: string };

export interface PathsToResolve {
  readonly callFacts: ToolCallFacts;
  readonly input: JsonObject;
  readonly digest: string;
}

/** Evaluates a tool call with the agent's policy. */
export function evaluateToolCall(
  run: ToolRun,
  agent: AgentSpec,
  tools: ToolsState,
): ToolCallEvaluation {
  const call = readToolCall(run, agent);
  if ("verdict" in call) return call;
  const { callFacts: facts, input, digest, hasOriginalInput } = call;
  const paths = selectKnownPaths(run, call);
  if (paths === undefined) return { verdict: "resolve-paths" };
  const callCount =
    (hasOriginalInput ? run.repeatCount : undefined) ??
    countRepeats(tools.callCounts, run.name, input);
  const { repeats, uncountedRepeats } = callCount;
  const certain = createPolicyContext(facts, paths, repeats);
  // The receipt contains the context, so the usual 0 is left out.
  const context: PolicyContext = uncountedRepeats > 0 ? { ...certain, uncountedRepeats } : certain;
  return {
    verdict: "decide",
    decision: evaluatePolicy(resolvePolicy(agent), context, input),
    digest,
  };
}

/** The facts of a call which the rules cannot evaluate now, because its tool is gone or its paths are unresolved. */
export function createFallbackContext(
  { name, input, resolvedPaths }: ToolRun,
  agent: AgentSpec,
): PolicyContext {
  const missingTool: ToolSpec = {
    name,
    description: "",
    schema: {},
    idempotent: false,
    timeoutMs: 0,
  };
  const tool = agent.tools.find((spec) => spec.name === name) ?? missingTool;
  return createPolicyContext(
    readToolCallFacts(tool, input ?? {}, agent),
    resolvedPaths?.paths ?? [],
    0,
  );
}

/** Returns the paths to resolve before the rules can be evaluated. Undefined if there are none. */
export function findPathsToResolve(run: ToolRun, agent: AgentSpec): PathsToResolve | undefined {
  const call = readToolCall(run, agent);
  return "verdict" in call || selectKnownPaths(run, call) !== undefined ? undefined : call;
}

interface ReadToolCall extends PathsToResolve {
  /** The arguments are the agent's, not edited by an approver. */
  readonly hasOriginalInput: boolean;
}

type RefusedToolCall = Extract<ToolCallEvaluation, { readonly verdict: "refuse" }>;

function readToolCall(
  { name, toolCall, problem, input }: ToolRun,
  agent: AgentSpec,
): ReadToolCall | RefusedToolCall {
  const refuse = (message: string): RefusedToolCall => ({ verdict: "refuse", message });
  if (problem !== undefined) return refuse(problem);
  if (toolCall === null || input === null) {
    const reason = toolCall?.inputError?.message ?? "its arguments never arrived";
    return refuse(
      `${name} was not run: its arguments could not be read (${reason}). Call it again with a JSON object.`,
    );
  }
  // The tool may have been removed from the agent since the call.
  const tool = agent.tools.find((spec) => spec.name === name);
  if (tool === undefined) return refuse(`${name} was not run: it is no longer available.`);
  const digest = digestValue(input);
  const facts = readToolCallFacts(tool, input, agent);
  return {
    callFacts: facts,
    input,
    digest,
    hasOriginalInput: digest === digestValue(toolCall.input),
  };
}

/**
 * Returns the resolved paths of a call; undefined if they are not resolved yet. Edited arguments always require a
 * resolution, which also validates them.
 */
function selectKnownPaths(
  { resolvedPaths: examined }: ToolRun,
  { callFacts: facts, digest, hasOriginalInput: isAsCalled }: ReadToolCall,
) {
  const isExamined = examined?.digest === digest;
  if (!isAsCalled && !isExamined) return undefined;
  return matchResolvedPaths(isExamined ? examined.paths : [], facts);
}
