import type { Evidence } from "./approval-events.ts";
import type { Signature } from "./signature.ts";
import type { PlanEntry } from "../plan.ts";
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
  | PlanUpdated;

/** The agent has begun to say which tool it wants; its arguments are still coming. */
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

/** A call in full. `toolCallId` is the session's, unique in it; `call.id` is the provider's. */
export interface ToolCallReceived {
  readonly type: "tool_call.received";
  readonly toolCallId: string;
  readonly messageId: string;
  readonly block: number;
  readonly toolCall: ToolCall;
  /** Why it cannot be run as it is: no such tool, or arguments that its schema refuses. */
  readonly problem?: string;
  /** Whoever prompted runs it, where and how they like: here it is neither judged nor run. */
  readonly executor?: "prompter";
}

/** What looking at a call's arguments found on this machine. Rules are asked about this, and not about the disk. */
export interface ToolCallPathsResolved {
  readonly type: "tool_call.paths_resolved";
  readonly toolCallId: string;
  /** Of the arguments that were looked at. */
  readonly digest: string;
  readonly paths: readonly PathFact[];
  /** What is wrong with arguments that an approver changed. */
  readonly problem?: string;
  /** What it would change, for whoever is asked. */
  readonly diffs?: readonly FileDiff[];
  readonly evidence?: readonly Evidence[];
}

/** The receipt of one decision about one call. */
export interface PolicyDecided {
  readonly type: "policy.decided";
  readonly toolCallId: string;
  /** Of the arguments that were judged. */
  readonly digest: string;
  /** The definition of the agent whose policy it is. */
  readonly agent: string;
  /** The session's mode, where it is not the default. */
  readonly mode?: SessionMode;
  readonly decision: PolicyDecision;
  /** What somebody allowed for good, where that answered the question. */
  readonly grantId?: string;
  readonly signature?: Signature;
}

/** Synced before the effect. */
export interface ToolStarted {
  readonly type: "tool.started";
  readonly toolCallId: string;
  readonly attempt: number;
  /** Of the arguments it runs with. */
  readonly digest: string;
  readonly approvalId?: string;
  /**
   * A client's machine may have done it already, and nobody said that it is to be done again: it is asked what came of it, and
   * does nothing where it does not know.
   */
  readonly isRepeat?: true;
  readonly signature?: Signature;
}

/**
 * Nobody waits any more for what a client's machine is at, and that machine knows its calls again: the call is put to it
 * once more when it is back with the same tool.
 */
export interface ToolWaitingForHost {
  readonly type: "tool.waiting_for_host";
  readonly toolCallId: string;
  /** The digest of the tool: one that says something else of itself is another. */
  readonly toolDigest: string;
  /** What came in between: the bridge was killed, or the client was lost. */
  readonly cause: "kill" | "loss";
  /** Milliseconds since 1970: no longer than this. */
  readonly deadline: number;
}

/** Synced before the process is let go. */
export interface ToolProcessStarted {
  readonly type: "tool.process_started";
  readonly toolCallId: string;
  readonly attempt: number;
  readonly group: ProcessGroup;
}

/** Of a program, nothing runs any more. Not said of those that a tool ended before it told of its own end. */
export interface ToolProcessExited {
  readonly type: "tool.process_exited";
  readonly toolCallId: string;
  readonly group: ProcessGroup;
}

/** `born` tells a process from a later one with the same number. */
export interface ProcessGroup {
  readonly id: number;
  readonly startTime: string;
}

export interface ToolProgress {
  readonly type: "tool.progress";
  readonly toolCallId: string;
  readonly text: string;
  /** Absent where the tool told its progress in words alone. */
  readonly amount?: ProgressAmount;
}

/** How far a tool has come, in units of its own. */
export interface ProgressAmount {
  readonly progress: number;
  /** Absent where the tool does not know it. */
  readonly total?: number;
}

export interface ToolFinished {
  readonly type: "tool.finished";
  readonly toolCallId: string;
  readonly ending: ToolEnding;
  readonly result: ToolResult;
  readonly durationMs?: number;
  /** Where the whole output is, when `result` has only its beginning. */
  readonly blobId?: string;
  /** SHA-256 of the bytes of that blob. Absent in logs from before it was recorded. */
  readonly blobDigest?: string;
  /** What the tool says beside its output, for people and programs, and not for the model. */
  readonly attachments?: ToolAttachments;
  /** Absent in logs from before tool results were signed. */
  readonly signature?: Signature;
}

/**
 * How a call ended. `refused`: it could not be run as it was. `unknown`: it was under way when the bridge was killed,
 * and nobody could say what came of it. `server`: it ran on the provider's side.
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

/** What the agent means to do, all of it, in place of what it said before. */
export interface PlanUpdated {
  readonly type: "plan.updated";
  readonly entries: readonly PlanEntry[];
}
