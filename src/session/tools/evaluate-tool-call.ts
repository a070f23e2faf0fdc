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
  /** It cannot be run as it is; `message` is for the model. */
  | { readonly verdict: "refuse"; readonly message: string }
  /** What its arguments lead to on this machine has to be looked at first. */
  | { readonly verdict: "resolve-paths" }
  | { readonly verdict: "decide"; readonly decision: PolicyDecision; readonly digest: string };

export interface PathsToResolve {
  readonly callFacts: ToolCallFacts;
  readonly input: JsonObject;
  readonly digest: string;
}

/** What the rules say of a call. */
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
  const { repeats, repeatsForgotten } = callCount;
  const context = {
    ...createPolicyContext(facts, paths, repeats),
    ...(repeatsForgotten > 0 && { repeatsForgotten }),
  };
  return {
    verdict: "decide",
    decision: evaluatePolicy(resolvePolicy(agent), context, input),
    digest,
  };
}

/** The facts of a call that the rules cannot judge now, because its tool is gone or its paths were not looked up. */
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

/** What has to be looked at before the rules can be asked, if anything has to. */
export function findPathsToResolve(run: ToolRun, agent: AgentSpec): PathsToResolve | undefined {
  const call = readToolCall(run, agent);
  return "verdict" in call || selectKnownPaths(run, call) !== undefined ? undefined : call;
}

interface ReadToolCall extends PathsToResolve {
  /** It still has the arguments that the agent gave it. */
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
    const reason = toolCall?.inputError?.message ?? "its arguments never came";
    return refuse(
      `${name} was not run: its arguments could not be read (${reason}). Call it again with a JSON object.`,
    );
  }
  // A definition may have lost the tool since it was called.
  const tool = agent.tools.find((spec) => spec.name === name);
  if (tool === undefined) return refuse(`${name} was not run: it is not there any more.`);
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
 * Where its paths lead; undefined where nobody looked. Of arguments that an approver gave it nobody knows, before that,
 * whether the tool takes them.
 */
function selectKnownPaths(
  { resolvedPaths: examined }: ToolRun,
  { callFacts: facts, digest, hasOriginalInput: isAsCalled }: ReadToolCall,
) {
  const isExamined = examined?.digest === digest;
  if (!isAsCalled && !isExamined) return undefined;
  return matchResolvedPaths(isExamined ? examined.paths : [], facts);
}
