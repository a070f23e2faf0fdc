import type { ToolSpec } from "../../domain/agent-spec.ts";
import type { JsonObject } from "../../data/json.ts";
import type { PathFact, PolicyDecision } from "../../domain/policy/policy-decision.ts";
import { createPolicyContext } from "../../policy/facts/tool-call-facts.ts";
import { evaluatePolicy } from "../../policy/evaluate-policy.ts";
import type { PathArgument } from "../../policy/facts/path-arguments.ts";
import { resolveToolPaths, type Agent } from "../../session/runtime/agent/agent.ts";
import { readToolCallFacts, listPathsToResolve } from "../../session/tools/tool-call-paths.ts";
import { resolvePolicy } from "../../session/tools/resolve-policy.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export { explainDecision } from "../../policy/explain-decision.ts";

export interface ToolCallCheck {
  readonly decision: PolicyDecision;
  /** True if the agent has the tool. Rules assume the worst of an unknown tool. */
  readonly isKnown: boolean;
  /** The problem of invalid arguments, independent of the rules. */
  readonly problem?: string;
  /** An additional remark for the user. Absent if there is none. */
  readonly note?: string;
}

/** Evaluates a tool call as a session would do now. Nothing runs. */
export async function checkToolCall(
  agent: Agent,
  call: { readonly name: string; readonly input: JsonObject; readonly workingDirectory?: string },
): Promise<ToolCallCheck> {
  const { name, input } = call;
  const folder = await agent.resolveFolder?.(call.workingDirectory);
  const callInFolder = folder === undefined ? call : { ...call, workingDirectory: folder };
  const tool = agent.tools.get(name);
  // The same steps as in a session.
  const facts = readToolCallFacts(tool?.spec ?? createUnknownToolSpec(name), input, agent.spec);
  const paths = await resolvePaths(agent, listPathsToResolve(facts), callInFolder);
  const decision = evaluatePolicy(
    resolvePolicy(agent.spec),
    createPolicyContext(facts, paths, 0),
    input,
  );
  const problem = tool?.check(input);
  return {
    decision,
    isKnown: tool !== undefined,
    ...omitUndefined({ problem }),
    ...(decision.approvers > 1 && { note: SINGLE_PERSON_NOTE }),
  };
}

const SINGLE_PERSON_NOTE =
  "All clients on this machine count as one person, in a run, in an editor and in the portal, so the required approvals cannot be reached and the tool would not run";

async function resolvePaths(
  agent: Agent,
  paths: readonly PathArgument[],
  call: { readonly name: string; readonly input: JsonObject; readonly workingDirectory?: string },
): Promise<readonly PathFact[]> {
  if (paths.length === 0) return [];
  const { signal } = new AbortController();
  const examination = await resolveToolPaths(agent.tools.get(call.name), agent, {
    ...call,
    paths,
    signal,
  });
  return examination?.paths ?? [];
}

function createUnknownToolSpec(name: string): ToolSpec {
  return { name, description: "", schema: {}, idempotent: false, timeoutMs: 0 };
}
