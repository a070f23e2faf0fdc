import type { AgentSpec } from "../../domain/agent-spec.ts";
import { LOAD_SKILL_CAPABILITY } from "../../domain/client-tools.ts";
import type { ToolWaitingForHost } from "../../domain/events/tool-events.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { requestOutcome, startTool } from "./advance-tools.ts";
import { finishTool, formatUnknownOutcome } from "./finish-tool.ts";
import { isStillAllowed } from "./evaluate-rules.ts";
import { digestTool } from "./tool-digest.ts";
import type { ToolRun } from "./tools-state.ts";

/**
 * Waits for the result of a call on a client's machine after the connection or this process ended. Returns false if the
 * host does not deduplicate calls, so waiting is useless.
 */
export function waitForHost(
  decision: Decision,
  run: ToolRun,
  cause: ToolWaitingForHost["cause"],
): boolean {
  const facts = readAgentSpec(decision).tools.find(({ name }) => name === run.name);
  const canRepeat = facts?.idempotent === true && facts.traits?.executor?.type === "host";
  if (!canRepeat || run.attempt >= MAX_ATTEMPTS[cause]) return false;
  const { toolCallId, name } = run;
  const deadline = decision.at + HOST_WAIT_MS;
  const tool = digestTool(readAgentSpec(decision), name);
  decision.emit({ type: "tool.waiting_for_host", toolCallId, toolDigest: tool, cause, deadline });
  return true;
}

/**
 * Limit of attempts per cause. A call interrupted by every kill may itself crash the bridge; disconnecting clients are
 * harmless.
 */
const MAX_ATTEMPTS = { kill: 3, loss: 20 } as const;

/** Four times the longest reconnect delay of the host SDK. */
const HOST_WAIT_MS = 60_000;

/** Restarts the wait: no client could connect while the bridge was down. */
export function extendHostWait(decision: Decision, { toolCallId, hostWait }: ToolRun): void {
  if (hostWait === undefined) return;
  const deadline = decision.at + HOST_WAIT_MS;
  decision.emit({
    type: "tool.waiting_for_host",
    toolCallId,
    ...hostWait,
    cause: "kill",
    deadline,
  });
}

/**
 * Sends waiting calls again to clients whose tools have returned. If the tool has changed, an approver is asked for the
 * outcome, except for `load_skill`.
 */
export function repeatWaitingCalls(decision: Decision): void {
  for (const run of listWaitingRuns(decision)) {
    const agent = readAgentSpec(decision);
    if (!agent.tools.some(({ name }) => name === run.name)) continue;
    const isSame = digestTool(agent, run.name) === run.hostWait?.toolDigest;
    if ((isSame || isSkillTool(agent, run)) && isStillAllowed(decision, run))
      startTool(decision, run, { isRepeat: true });
    else requestOutcome(decision, run);
  }
}

/** The description of `load_skill` changes with the skills, and loading a skill again has no effects. */
function isSkillTool({ tools }: AgentSpec, run: ToolRun): boolean {
  const { traits } = tools.find(({ name }) => name === run.name) ?? {};
  return traits?.capabilities?.includes(LOAD_SKILL_CAPABILITY) === true;
}

/**
 * Ends waits whose client did not return in time. After a kill, an approver is asked; after a disconnect, the outcome
 * is unknown, because only the client knows it.
 */
export function expireWaitingCalls(decision: Decision): void {
  for (const run of listWaitingRuns(decision)) {
    const { cause, deadline = 0 } = run.hostWait ?? {};
    if (deadline > decision.at) continue;
    if (cause === "kill") requestOutcome(decision, run);
    else finishTool(decision, run, { ending: "unknown", text: formatUnknownOutcome(run) });
  }
}

function listWaitingRuns({ state }: Decision): readonly ToolRun[] {
  return state.tools.runs.filter(({ status }) => status === "waiting-for-host");
}
