import type { ToolWaitingForHost } from "../../domain/events/tool-events.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { requestOutcome, startTool } from "./advance-tools.ts";
import { finishTool, formatUnknownOutcome } from "./finish-tool.ts";
import { isStillAllowed } from "./evaluate-rules.ts";
import { digestTool } from "./tool-digest.ts";
import type { ToolRun } from "./tools-state.ts";

/**
 * A call that runs on a client's machine outlives the client's connection, and this process. Where that machine knows its
 * calls again, it is waited for; false where it does not.
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

/** A call that never lives to see its end may be what ends the bridge. That a client comes and goes is nobody's fault. */
const MAX_ATTEMPTS = { kill: 3, loss: 20 } as const;

/** Four times the longest pause that a client of our kit makes before it tries again. */
const HOST_WAIT_MS = 60_000;

/** Waits anew: while no bridge was there nobody could come. */
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

/** Puts calls to their clients again whose tools are there again, just as they were. */
export function repeatWaitingCalls(decision: Decision): void {
  for (const run of listWaitingRuns(decision)) {
    const agent = readAgentSpec(decision);
    if (!agent.tools.some(({ name }) => name === run.name)) continue;
    const isSame = digestTool(agent, run.name) === run.hostWait?.toolDigest;
    if (isSame && isStillAllowed(decision, run)) startTool(decision, run, { isRepeat: true });
    else requestOutcome(decision, run);
  }
}

/** Nobody came. After a kill somebody is asked; a client that went has left its call behind, and nobody else can know. */
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
