import type { ToolFacts } from "../domain/agent-event.ts";
import type { JsonObject } from "../domain/json.ts";
import type { PathFact, PolicyDecision } from "../domain/policy-decision.ts";
import { contextOf } from "../policy/call-facts.ts";
import { judge } from "../policy/judge.ts";
import type { PathArgument } from "../policy/path-arguments.ts";
import { examineBy, type Agent } from "../session/agent.ts";
import { callFacts, pathsToFind } from "../session/tools/path-facts.ts";
import { policyOf } from "../session/tools/policy-of.ts";

export { explain } from "../policy/explain.ts";

export interface CheckedCall {
  readonly decision: PolicyDecision;
  /** Whether the agent has the tool; rules think the worst of one that it does not have. */
  readonly isKnown: boolean;
  /** What is wrong with the arguments, whatever the rules say. */
  readonly problem?: string;
  /** What else people should know. */
  readonly note?: string;
}

/** What would become of a call, were it made now. Nothing is run. */
export async function checkCall(
  agent: Agent,
  call: { readonly name: string; readonly input: JsonObject; readonly workingDirectory?: string },
): Promise<CheckedCall> {
  const { name, input } = call;
  const folder = await agent.folderFor?.(call.workingDirectory);
  const place = folder === undefined ? call : { ...call, workingDirectory: folder };
  const tool = agent.tools.get(name);
  // As a session does it.
  const facts = callFacts(tool?.facts ?? unknownTool(name), input, agent.facts);
  const paths = await found(agent, pathsToFind(facts), place);
  const decision = judge(policyOf(agent.facts), contextOf(facts, paths, 0), input);
  const problem = tool?.check(input);
  return {
    decision,
    isKnown: tool !== undefined,
    ...(problem !== undefined && { problem }),
    ...(decision.approvers > 1 && { note: ONE_PERSON }),
  };
}

const ONE_PERSON =
  "Everybody on this machine is one person, in a run, in an editor and in the portal: there are not that many, and it is not run";

async function found(
  agent: Agent,
  paths: readonly PathArgument[],
  call: { readonly name: string; readonly input: JsonObject; readonly workingDirectory?: string },
): Promise<readonly PathFact[]> {
  if (paths.length === 0) return [];
  const { signal } = new AbortController();
  const looked = await examineBy(agent.tools.get(call.name), agent, { ...call, paths, signal });
  return looked?.paths ?? [];
}

function unknownTool(name: string): ToolFacts {
  return { name, description: "", schema: {}, idempotent: false, timeoutMs: 0 };
}
