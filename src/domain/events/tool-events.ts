import type { Evidence } from "./approval-events.ts";
import type { Signature } from "./signature.ts";
import type { HarnPlan } from "../outputs/harn-plan.ts";
import type { PlanEntry } from "../outputs/plan.ts";
import type { LogReport, ProgressReport } from "../outputs/progress-report.ts";
import type { PathFact, PolicyDecision } from "../policy/policy-decision.ts";
import type { SessionMode } from "../session-mode.ts";
import type { ToolCall, ToolResult } from "../tools/tool-call.ts";
import type { FileDiff, ToolAttachments } from "../tools/tool-output.ts";

/** Events of the slice `tools`: tool calls, their policy decisions and their runs. */
export type ToolEvent =
  | ToolCallOpened
  | ToolCallInputDelta
  | ToolCallReceived
  | ToolCallPathsResolved
  | PolicyDecided
  | ToolStarted
  | ToolWaitingForHost
  | ToolProcessStarted
  | ToolProcessExited
  | ToolProgress
  | ToolFinished
  | PlanUpdated
  | ProgressReported
  | LogReported;

/** The model has started a tool call; its arguments are still streaming. */
export interface ToolCallOpened {
  readonly type: "tool_call.opened";
  readonly toolCallId: string;
  readonly messageId: string;
  readonly block: number;
  readonly name: string;
}

export interface ToolCallInputDelta {
  readonly type: "tool_call.input.delta";
  readonly toolCallId: string;
  readonly text: string;
}

/** A complete tool call. `toolCallId` is the session's id, unique in the session; `toolCall.id` is the provider's. */
export interface ToolCallReceived {
  readonly type: "tool_call.received";
  readonly toolCallId: string;
  readonly messageId: string;
  readonly block: number;
  readonly toolCall: ToolCall;
  /** Why the call cannot run: an unknown tool, or arguments rejected by its schema. */
  readonly problem?: string;
  /** Set if the prompter runs the tool: the session neither evaluates nor runs the call. */
  readonly executor?: "prompter";
}

/** The files and folders referenced by a tool call's arguments. Rules evaluate this event, not the disk. */
export interface ToolCallPathsResolved {
  readonly type: "tool_call.paths_resolved";
  readonly toolCallId: string;
  /** Digest of the inspected arguments. */
  readonly digest: string;
  readonly paths: readonly PathFact[];
  /** Why arguments edited by an approver are invalid. Absent if they are valid. */
  readonly problem?: string;
  /** File changes the call would make, for the approver. */
  readonly diffs?: readonly FileDiff[];
  readonly evidence?: readonly Evidence[];
}

/** The receipt of one decision about one tool call. */
export interface PolicyDecided {
  readonly type: "policy.decided";
  readonly toolCallId: string;
  /** Digest of the evaluated arguments. */
  readonly digest: string;
  /** Digest of the agent definition whose policy was evaluated. */
  readonly agent: string;
  /** The session mode. Absent for `default`. */
  readonly mode?: SessionMode;
  readonly decision: PolicyDecision;
  /** The grant which replaced an approval request. Absent if none did. */
  readonly grantId?: string;
  readonly signature?: Signature;
}

/** Synced before the tool runs. */
export interface ToolStarted {
  readonly type: "tool.started";
  readonly toolCallId: string;
  readonly attempt: number;
  /** Digest of the arguments the tool runs with. */
  readonly digest: string;
  readonly approvalId?: string;
  /**
   * Set if a client's machine may already have run the call, and no approver requested another run: the host is asked
   * for the recorded result and runs nothing if it has none.
   */
  readonly isRepeat?: true;
  readonly signature?: Signature;
}

/**
 * A client's machine disconnected while it ran this tool. Its host deduplicates calls by id, so the call is sent again
 * when the client returns with the same tool.
 */
export interface ToolWaitingForHost {
  readonly type: "tool.waiting_for_host";
  readonly toolCallId: string;
  /** Digest of the tool's description. A returning tool with another digest does not get the call. */
  readonly toolDigest: string;
  /** The interruption: the bridge was killed, or the client disconnected. */
  readonly cause: "kill" | "loss";
  /** End of the wait, in milliseconds since 1970. */
  readonly deadline: number;
}

/** Synced before the gated process may continue. */
export interface ToolProcessStarted {
  readonly type: "tool.process_started";
  readonly toolCallId: string;
  readonly attempt: number;
  readonly group: ProcessGroup;
}

/**
 * All processes of the group have exited. Not emitted for processes terminated together with their tool: its
 * `tool.finished` covers them.
 */
export interface ToolProcessExited {
  readonly type: "tool.process_exited";
  readonly toolCallId: string;
  readonly group: ProcessGroup;
}

/** `startTime` distinguishes a process from a later one with the same id. */
export interface ProcessGroup {
  readonly id: number;
  readonly startTime: string;
}

export interface ToolProgress {
  readonly type: "tool.progress";
  readonly toolCallId: string;
  readonly text: string;
  /** Absent if the tool reports progress as text only. */
  readonly amount?: ProgressAmount;
}

/** Progress in units defined by the tool. */
export interface ProgressAmount {
  readonly progress: number;
  /** Absent if the tool does not know the total. */
  readonly total?: number;
}

export interface ToolFinished {
  readonly type: "tool.finished";
  readonly toolCallId: string;
  readonly ending: ToolEnding;
  readonly result: ToolResult;
  readonly durationMs?: number;
  /** The blob with the whole output. Absent if `result` is complete. */
  readonly blobId?: string;
  /** SHA-256 of the blob's bytes. Absent in logs written before this field existed. */
  readonly blobDigest?: string;
  /** Additional output for people and programs, not sent to the model. */
  readonly attachments?: ToolAttachments;
  /** Absent in logs from before tool results were signed. */
  readonly signature?: Signature;
}

/**
 * How a tool call ended. `refused`: it could not run as received. `unknown`: it was running when the bridge was killed,
 * and its result could not be determined. `server`: it ran at the provider.
 */
export type ToolEnding =
  | "succeeded"
  | "failed"
  | "denied"
  | "cancelled"
  | "timed-out"
  | "refused"
  | "unknown"
  | "server";

/** The agent's whole plan; replaces the previous one. */
export interface PlanUpdated {
  readonly type: "plan.updated";
  readonly entries: readonly PlanEntry[];
  /** The whole plan behind the entries. Absent if its author gave entries only. */
  readonly plan?: HarnPlan;
}

/** Progress of the agent in its own words. Progress of a tool is `tool.progress`. */
export interface ProgressReported extends ProgressReport {
  readonly type: "progress.reported";
}

/** A log entry of a tool for hosts. */
export interface LogReported extends LogReport {
  readonly type: "log.reported";
}
