import type {
  ProcessGroup,
  ToolWaitingForHost,
  ToolEnding,
  ToolCallPathsResolved,
} from "../../domain/events/tool-events.ts";
import type { JsonObject } from "../../data/json.ts";
import type { PlanEntry } from "../../domain/plan.ts";
import type { PolicyAction } from "../../domain/policy/policy-decision.ts";
import type { SessionMode } from "../../domain/session-mode.ts";
import type { ToolCall, ToolResult } from "../../domain/tools/tool-call.ts";
import { NO_TOOL_CALLS, type ToolCallCounts, type RepeatCount } from "./tool-call-counts.ts";

export interface ToolsState {
  /** The calls of the turn that runs, in the order they were first seen. */
  readonly runs: readonly ToolRun[];
  readonly callCounts: ToolCallCounts;
  /** Programs that may still run. They outlive their turn here: a cancel is in the log before they are ended. */
  readonly processes: readonly RunningProcess[];
  /** As the agent last told it. */
  readonly plan: readonly PlanEntry[];
}

export interface RunningProcess {
  readonly toolCallId: string;
  readonly group: ProcessGroup;
}

/**
 * - `announced`: its arguments are still coming.
 * - `called`: nothing was decided about it, or not about the arguments that it now has.
 * - `asking`: an approver is asked.
 * - `granted`: it may run, and waits for its place. It is judged once more when it gets one.
 * - `running`: its start is in the log; the effect may have begun.
 * - `awaited`: it was running on a client's machine, and is put to it again when that is back.
 * - `unsettled`: it was running when the bridge was killed, and an approver is asked what came of it.
 * - `handed-out`: whoever prompted has it, and brings its result.
 */
export type ToolStatus =
  | "opened"
  | "received"
  | "approval-requested"
  | "approved"
  | "running"
  | "handed-out"
  | "waiting-for-host"
  | "outcome-requested"
  | "finished";

export interface ToolRun {
  readonly toolCallId: string;
  readonly name: string;
  readonly status: ToolStatus;
  /** Null while it is only announced. */
  readonly toolCall: ToolCall | null;
  readonly problem?: string;
  /** What it runs with: the approver may have changed it. */
  readonly input: JsonObject | null;
  readonly approvalId?: string;
  /** What looking at its arguments found; absent while nobody looked, or where there is nothing to look at. */
  readonly resolvedPaths?: ResolvedPaths;
  /** How often this very call was made before; absent before it is made. */
  readonly repeatCount?: RepeatCount;
  /** What the rules last said of it. */
  readonly evaluation?: LastEvaluation;
  /** What people were last shown. */
  readonly shownRequest?: ShownRequest;
  /** What people last said yes to. */
  readonly approval?: ToolApproval;
  /** 0 before the first. */
  readonly attempt: number;
  /** The last attempt that only asks what came of those before it. */
  readonly repeatAttempt?: number;
  /** How a client's machine was last waited for. */
  readonly hostWait?: HostWait;
  readonly ending?: ToolEnding;
  readonly result?: ToolResult;
}

export interface LastEvaluation {
  /** The name of the tool that was evaluated. */
  readonly tool: string;
  /** The definition of the agent whose rules they were. */
  readonly agent: string;
  readonly mode: SessionMode;
  /** Of the arguments. */
  readonly digest: string;
  readonly action: PolicyAction;
}

export interface ShownRequest {
  /** The digest of the tool, as it was then. */
  readonly toolDigest: string;
  /** Of the decision to ask. */
  readonly decisionDigest: string;
}

export type HostWait = Omit<ToolWaitingForHost, "type" | "toolCallId">;

export interface ToolApproval {
  /** Of the arguments. */
  readonly digest: string;
  /** Of the tool, as it was when it was asked about. */
  readonly toolDigest: string;
  /** Of the decision to ask, as it was shown. */
  readonly decisionDigest: string;
  /** Of the rules that held when it was said. */
  readonly rulesDigest: string;
  /** How many different principals said it. */
  readonly approvers: number;
}

export type ResolvedPaths = Omit<ToolCallPathsResolved, "type" | "toolCallId">;

export const initialToolsState: ToolsState = {
  runs: [],
  callCounts: NO_TOOL_CALLS,
  processes: [],
  plan: [],
};

export function isSameGroup(first: ProcessGroup, second: ProcessGroup): boolean {
  return first.id === second.id && first.startTime === second.startTime;
}

export function findRun(tools: ToolsState, toolCallId: string): ToolRun | undefined {
  return tools.runs.find((run) => run.toolCallId === toolCallId);
}

/** One run of a tool. */
export interface Attempt {
  readonly toolCallId: string;
  readonly attempt: number;
}

/** Undefined where it is over, or another attempt runs. */
export function findRunningAttempt(
  tools: ToolsState,
  { toolCallId, attempt }: Attempt,
): ToolRun | undefined {
  const run = findRun(tools, toolCallId);
  return run?.status === "running" && run.attempt === attempt ? run : undefined;
}

/** It does nothing itself. */
export function isRepeat({ attempt, repeatAttempt }: ToolRun): boolean {
  return attempt === repeatAttempt;
}

/** Nobody waits for anything but us: it can be judged, or looked at for that. */
export function isEvaluable({ status }: ToolRun): boolean {
  return status === "received" || status === "approved";
}

/** Here, or on a machine that is waited for. */
export function isInProgress({ status }: ToolRun): boolean {
  return status === "running" || status === "waiting-for-host";
}

export function isOpen(run: ToolRun): boolean {
  return run.status !== "finished";
}

/** An approver is asked what came of it. */
export function isUnsettled({ status }: ToolRun): boolean {
  return status === "outcome-requested";
}

/** Whatever becomes of it becomes of it elsewhere. */
export function isHandedOut({ status }: ToolRun): boolean {
  return status === "handed-out";
}

/** It needs one of the calls that the turn may start. */
export function isNeverStarted({ status, attempt }: ToolRun): boolean {
  return (
    attempt === 0 &&
    (status === "received" || status === "approval-requested" || status === "approved")
  );
}
