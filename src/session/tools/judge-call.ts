import type { AgentFacts, ToolFacts } from "../../domain/agent-event.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { PolicyContext, PolicyDecision } from "../../domain/policy-decision.ts";
import { digestOf } from "../../platform/digest.ts";
import { contextOf, type CallFacts } from "../../policy/call-facts.ts";
import { judge } from "../../policy/judge.ts";
import { callFacts, knownPaths } from "./path-facts.ts";
import { policyOf } from "./policy-of.ts";
import { timesMade } from "./made-calls.ts";
import type { ToolRun, ToolsState } from "./tools-state.ts";

export type Judgement =
  /** It cannot be run as it is; `message` is for the model. */
  | { readonly verdict: "refuse"; readonly message: string }
  /** What its arguments lead to on this machine has to be looked at first. */
  | { readonly verdict: "examine" }
  | { readonly verdict: "decide"; readonly decision: PolicyDecision; readonly digest: string };

export interface ToExamine {
  readonly facts: CallFacts;
  readonly input: JsonObject;
  readonly digest: string;
}

/** What the rules say of a call. */
export function judgeCall(run: ToolRun, agent: AgentFacts, tools: ToolsState): Judgement {
  const call = readCall(run, agent);
  if ("verdict" in call) return call;
  const { facts, input, digest, isAsCalled } = call;
  const paths = pathsOf(run, call);
  if (paths === undefined) return { verdict: "examine" };
  const made = (isAsCalled ? run.made : undefined) ?? timesMade(tools.made, run.name, input);
  const { repeats, repeatsForgotten } = made;
  const context = {
    ...contextOf(facts, paths, repeats),
    ...(repeatsForgotten > 0 && { repeatsForgotten }),
  };
  return { verdict: "decide", decision: judge(policyOf(agent), context, input), digest };
}

/** The facts of a call that the rules cannot judge now, because its tool is gone or its paths were not looked up. */
export function contextOfCall(
  { name, input, examined }: ToolRun,
  agent: AgentFacts,
): PolicyContext {
  const gone: ToolFacts = { name, description: "", schema: {}, idempotent: false, timeoutMs: 0 };
  const tool = agent.tools.find((one) => one.name === name) ?? gone;
  return contextOf(callFacts(tool, input ?? {}, agent), examined?.paths ?? [], 0);
}

/** What has to be looked at before the rules can be asked, if anything has to. */
export function toExamine(run: ToolRun, agent: AgentFacts): ToExamine | undefined {
  const call = readCall(run, agent);
  return "verdict" in call || pathsOf(run, call) !== undefined ? undefined : call;
}

interface ReadCall extends ToExamine {
  /** It still has the arguments that the agent gave it. */
  readonly isAsCalled: boolean;
}

type Refused = Extract<Judgement, { readonly verdict: "refuse" }>;

function readCall({ name, call, problem, input }: ToolRun, agent: AgentFacts): ReadCall | Refused {
  const refuse = (message: string): Refused => ({ verdict: "refuse", message });
  if (problem !== undefined) return refuse(problem);
  if (call === null || input === null) {
    const reason = call?.inputError?.message ?? "its arguments never came";
    return refuse(
      `${name} was not run: its arguments could not be read (${reason}). Call it again with a JSON object.`,
    );
  }
  // A definition may have lost the tool since it was called.
  const tool = agent.tools.find((one) => one.name === name);
  if (tool === undefined) return refuse(`${name} was not run: it is not there any more.`);
  const digest = digestOf(input);
  const facts = callFacts(tool, input, agent);
  return { facts, input, digest, isAsCalled: digest === digestOf(call.input) };
}

/**
 * Where its paths lead; undefined where nobody looked. Of arguments that an approver gave it nobody knows, before that,
 * whether the tool takes them.
 */
function pathsOf({ examined }: ToolRun, { facts, digest, isAsCalled }: ReadCall) {
  const isExamined = examined?.digest === digest;
  if (!isAsCalled && !isExamined) return undefined;
  return knownPaths(isExamined ? examined.paths : [], facts);
}
