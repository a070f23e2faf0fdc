import type {
  ProcessGroup,
  ToolWaitingForHost,
  ToolEnding,
  ToolCallPathsResolved,
} from "../../domain/events/tool-events.ts";
import type { JsonObject } from "../../data/json.ts";
import type { HarnPlan } from "../../domain/outputs/harn-plan.ts";
import type { PlanEntry } from "../../domain/outputs/plan.ts";
import type { PolicyAction } from "../../domain/policy/policy-decision.ts";
import type { SessionMode } from "../../domain/session-mode.ts";
import type { ToolCall, ToolResult } from "../../domain/tools/tool-call.ts";
import { NO_TOOL_CALLS, type ToolCallCounts, type RepeatCount } from "./tool-call-counts.ts";

export interface ToolsState {
  /** Tool calls of the running turn, in order of first appearance. */
  readonly runs: readonly ToolRun[];
  readonly callCounts: ToolCallCounts;
  /** Processes which may still run. They outlive their turn: a cancel is logged before they are terminated. */
  readonly processes: readonly RunningProcess[];
  /** The agent's latest plan. */
  readonly plan: readonly PlanEntry[];
  /** The whole plan behind the entries. Null if there is none. */
  readonly planDetails: HarnPlan | null;
}

export interface RunningProcess {
  readonly toolCallId: string;
  readonly group: ProcessGroup;
}

/**
 * The status of a tool call:
 *
 * - `opened`: its arguments are still streaming.
 * - `received`: no decision yet, or none for its current arguments.
 * - `approval-requested`: an approver is asked whether to run the tool.
 * - `approved`: the call may run and waits for its turn; it is evaluated once more at its start.
 * - `running`: its start is logged; the effect may have begun.
 * - `handed-out`: the prompter runs the tool and submits the result.
 * - `waiting-for-host`: it was running on a client's machine and is sent again when the client returns.
 * - `outcome-requested`: it was running when the bridge was killed, and an approver is asked for the outcome.
 * - `finished`: its result is logged.
 *
 * ```
 * opened → received → approved → running → finished
 * received → approval-requested → approved    the policy requires an approval
 * approval-requested → received               arguments edited, or request withdrawn
 * received → handed-out → finished            a tool of the prompter
 * running → waiting-for-host → running        its client disconnected and returned
 * running → outcome-requested → approved      the bridge was killed; decision `run-again`
 * any status → finished                       denied, refused, cancelled or expired
 * ```
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
  /** Null while the arguments are streaming. */
  readonly toolCall: ToolCall | null;
  readonly problem?: string;
  /** The arguments to run with, possibly edited by an approver. */
  readonly input: JsonObject | null;
  readonly approvalId?: string;
  /** Absent until the paths are resolved, or if there are none. */
  readonly resolvedPaths?: ResolvedPaths;
  /** Number of earlier identical calls. Absent until the arguments are complete. */
  readonly repeatCount?: RepeatCount;
  /** The latest decision of the rules. */
  readonly evaluation?: LastEvaluation;
  /** The latest request shown to an approver. */
  readonly shownRequest?: RequestDigests;
  /** The latest approval. */
  readonly approval?: ToolApproval;
  /** 0 before the first attempt. */
  readonly attempt: number;
  /** The last attempt which only asks the host for an earlier result. */
  readonly repeatAttempt?: number;
  /** The latest wait for a client's machine. */
  readonly hostWait?: HostWait;
  readonly ending?: ToolEnding;
  readonly result?: ToolResult;
}

export interface LastEvaluation {
  /** The name of the evaluated tool. */
  readonly tool: string;
  /** Digest of the agent definition. */
  readonly agent: string;
  readonly mode: SessionMode;
  /** Digest of the arguments. */
  readonly digest: string;
  readonly action: PolicyAction;
}

export interface RequestDigests {
  /** Digest of the tool at the time of the request. */
  readonly toolDigest: string;
  /** Digest of the decision to ask. */
  readonly decisionDigest: string;
}

export type HostWait = Omit<ToolWaitingForHost, "type" | "toolCallId">;

export interface ToolApproval {
  /** Digest of the arguments. */
  readonly digest: string;
  /** Digest of the tool at the time of the request. */
  readonly toolDigest: string;
  /** Digest of the decision to ask, as shown. */
  readonly decisionDigest: string;
  /** Digest of the rules at the time of the approval. */
  readonly rulesDigest: string;
  /** Number of different principals who approved. */
  readonly approvers: number;
}

export type ResolvedPaths = Omit<ToolCallPathsResolved, "type" | "toolCallId">;

export const initialToolsState: ToolsState = {
  runs: [],
  callCounts: NO_TOOL_CALLS,
  processes: [],
  plan: [],
  planDetails: null,
};

export function isSameGroup(first: ProcessGroup, second: ProcessGroup): boolean {
  return first.id === second.id && first.startTime === second.startTime;
}

export function findRun(tools: ToolsState, toolCallId: string): ToolRun | undefined {
  return tools.runs.find((run) => run.toolCallId === toolCallId);
}

/** One attempt to run a tool. */
export interface Attempt {
  readonly toolCallId: string;
  readonly attempt: number;
}

/** Returns the run if this attempt is active. Undefined if it is over, or another attempt runs. */
export function findRunningAttempt(
  tools: ToolsState,
  { toolCallId, attempt }: Attempt,
): ToolRun | undefined {
  const run = findRun(tools, toolCallId);
  return run?.status === "running" && run.attempt === attempt ? run : undefined;
}

/** Whether the current attempt only requests the result of an earlier attempt. */
export function isRepeat({ attempt, repeatAttempt }: ToolRun): boolean {
  return attempt === repeatAttempt;
}

/** Whether the session must act next: evaluate the call or resolve its paths. */
export function isEvaluable({ status }: ToolRun): boolean {
  return status === "received" || status === "approved";
}

/** Running here, or on a client's machine. */
export function isInProgress({ status }: ToolRun): boolean {
  return status === "running" || status === "waiting-for-host";
}

export function isOpen(run: ToolRun): boolean {
  return run.status !== "finished";
}

/** Whether an approver is asked for the outcome. */
export function isUnsettled({ status }: ToolRun): boolean {
  return status === "outcome-requested";
}

/** Whether the prompter runs the tool. */
export function isHandedOut({ status }: ToolRun): boolean {
  return status === "handed-out";
}

/** Whether the call still counts against the turn's limit of tool calls. */
export function isNeverStarted({ status, attempt }: ToolRun): boolean {
  return (
    attempt === 0 &&
    (status === "received" || status === "approval-requested" || status === "approved")
  );
}
