import type {
  ApprovalRequested,
  ApprovalResolved,
  ApprovalVoted,
} from "../../domain/events/approval-events.ts";
import type { BudgetReached } from "../../domain/events/budget-events.ts";
import type { InjectMode } from "../../domain/events/steering-events.ts";
import type { ToolEnding, ProgressAmount } from "../../domain/events/tool-events.ts";
import type { TurnOutcome } from "../../domain/events/turn-events.ts";
import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { Failure } from "../../domain/errors.ts";
import type { LiveClient } from "../../domain/live-client.ts";
import type { StoredArtifact } from "../../domain/outputs/artifact.ts";
import type { FileChangeEntry } from "../../domain/outputs/file-watch.ts";
import type { Handoff } from "../../domain/outputs/handoff.ts";
import type { HarnPlan } from "../../domain/outputs/harn-plan.ts";
import type { PlanEntry } from "../../domain/outputs/plan.ts";
import type { PolicyDecision } from "../../domain/policy/policy-decision.ts";
import type { PromptPart } from "../../domain/prompt.ts";
import type { Reminder } from "../../domain/reminder.ts";
import type { SessionLineage } from "../../domain/workers/session-lineage.ts";
import type { SessionMode } from "../../domain/session-mode.ts";
import type { ToolCall, ToolResult } from "../../domain/tools/tool-call.ts";
import type { FileDiff } from "../../domain/tools/tool-output.ts";
import type { CompactionReceipt } from "../../domain/transcript/compaction.ts";
import type { Usage } from "../../domain/usage.ts";
import type { Worker } from "../../domain/workers/worker.ts";

/**
 * The view of one session: a fold over its events (`reduce-session.ts`). The value is immutable; a new
 * batch of events makes a new value which shares all unchanged turns and items, so that React renders changes only.
 */
export interface SessionView {
  readonly sessionId: string;
  /** The last event in this view. 0: none yet. */
  readonly seq: number;
  /** Time of the last event. */
  readonly updatedAt: number;
  readonly title: string | null;
  readonly agent: string;
  readonly agentSpec: AgentSpec | null;
  readonly owner: string | null;
  /** Null unless the session belongs to a worker. */
  readonly lineage: SessionLineage | null;
  readonly workingDirectory: string | null;
  readonly folders: readonly string[];
  readonly mode: SessionMode;
  /** In the order of their prompts. The last may be running. */
  readonly turns: readonly TurnView[];
  /** Prompts and messages which are accepted and not yet part of a turn, oldest first. */
  readonly queue: readonly QueuedItem[];
  /** Open requests to people, oldest first. Resolved requests stay with their tool call or turn. */
  readonly openApprovals: readonly ApprovalView[];
  readonly clients: readonly LiveClient[];
  /** The controller's client id. */
  readonly controller: string | null;
  readonly plan: readonly PlanEntry[];
  /** The whole plan behind the entries. Null if its author gave entries only. */
  readonly planDetails: HarnPlan | null;
  /** Number of artifacts and handoffs. They are items of their turns. */
  readonly artifactCount: number;
  /** Number of workers, each of them an item of the turn which started the worker. */
  readonly workerCount: number;
  readonly grants: readonly GrantView[];
  /** Sum of the finished turns. Null if no provider reported any. */
  readonly usage: Usage | null;
}

/** One turn: the prompt and everything up to its end. */
export interface TurnView {
  readonly turnId: string;
  readonly promptId: string;
  /** Who submitted the prompt. Null if unknown, or if the agent started the turn itself. */
  readonly principal: string | null;
  readonly startedAt: number;
  /** Null while the turn runs. */
  readonly end: TurnEnd | null;
  /** The stage of a running turn. `done` once `end` is set. */
  readonly stage: TurnStage;
  readonly items: readonly ThreadItem[];
  /** Usage so far: from its invocations. */
  readonly usage: Usage | null;
}

/**
 * - `model`: an invocation is running.
 * - `tool`: a tool is running.
 * - `person`: waits for a decision or an answer.
 * - `results`: waits for the results of tools which the prompter runs.
 */
export type TurnStage = "starting" | "model" | "tool" | "person" | "results" | "done";

export interface TurnEnd {
  readonly at: number;
  readonly outcome: TurnOutcome;
  readonly reason: string | null;
  readonly steps: number;
  readonly usage: Usage | null;
  readonly failure?: Failure;
}

/** One entry of the thread. `key` is unique in the session and stable. */
export type ThreadItem =
  | UserItem
  | TextItem
  | ThoughtItem
  | ToolItem
  | ReminderItem
  | ApprovalItem
  | NoticeItem
  | WorkerItem
  | ArtifactItem
  | HandoffItem
  | CompactionItem
  | FileChangesItem;

export type ThreadItemKind = ThreadItem["kind"];

interface ItemBase {
  readonly key: string;
  readonly at: number;
  /** Position of the first event of the item in the log: a stable link target. */
  readonly seq: number;
}

/** A message of a person: a prompt, or an injected message. */
export interface UserItem extends ItemBase {
  readonly kind: "user";
  /** A copy through this event ends before the message. Null for imported history, which is a single event. */
  readonly forkSeq: number | null;
  readonly content: readonly PromptPart[];
  readonly principal: string | null;
  /** `steer` or `queue` for an injected message. */
  readonly injected?: InjectMode;
}

/** Text of the agent, in Markdown. */
export interface TextItem extends ItemBase {
  readonly kind: "text";
  readonly messageId: string;
  /**
   * Position of the last event of the text, or of the last result of a tool which its message has called. A copy
   * through this event ends with the message; a copy without the results would end before the message. Null for
   * imported history, which is a single event.
   */
  readonly forkSeq: number | null;
  readonly text: string;
  readonly isStreaming: boolean;
  readonly interrupted: boolean;
}

export interface ThoughtItem extends ItemBase {
  readonly kind: "thought";
  readonly text: string;
  readonly isStreaming: boolean;
  readonly durationMs: number | null;
}

/** A tool call, from its first byte to its result. */
export interface ToolItem extends ItemBase {
  readonly kind: "tool";
  readonly toolCallId: string;
  /** The message which has called the tool. */
  readonly messageId: string;
  readonly name: string;
  /**
   * `streaming`: the model still writes the arguments. `received`: before its policy decision. `waiting`: an approval is
   * open. `allowed`: may start. `running`. `host`: waits for a client to return. `ended`: see `ending`.
   */
  readonly stage: "streaming" | "received" | "waiting" | "allowed" | "running" | "host" | "ended";
  /** The arguments as streamed so far. */
  readonly inputText: string;
  /** The whole call, once received. */
  readonly call: ToolCall | null;
  /** Arguments edited by an approver. */
  readonly editedInput?: ApprovalResolved["input"];
  readonly problem?: string;
  readonly decision?: PolicyDecision;
  /** Approval requests of this call, oldest first. */
  readonly approvals: readonly ApprovalView[];
  readonly attempt: number;
  readonly startedAt: number | null;
  readonly progress: { readonly text: string; readonly amount?: ProgressAmount } | null;
  readonly ending: ToolEnding | null;
  readonly result: ToolResult | null;
  readonly durationMs: number | null;
  /** Changes of files: planned ones until the tool has finished, then the real ones. */
  readonly diffs: readonly FileDiff[];
  /** Id of the blob with the whole output. */
  readonly blobId?: string;
}

/** A reminder which became part of a request to the model, or of the transcript (`audit_only`). */
export interface ReminderItem extends ItemBase {
  readonly kind: "reminder";
  readonly reminderId: string;
  readonly reminder: Reminder;
}

/** A request about the turn itself: a lost invocation, or a budget. Requests about tool calls are in their `ToolItem`. */
export interface ApprovalItem extends ItemBase {
  readonly kind: "approval";
  readonly approval: ApprovalView;
}

/** A fact about the session in one line: a mode change, a recovery, a lost invocation, a diagnostic. */
export interface NoticeItem extends ItemBase {
  readonly kind: "notice";
  readonly level: "info" | "warning" | "error";
  readonly text: string;
  /** Further lines, folded. */
  readonly details?: string;
  /** Set for progress with numbers. */
  readonly amount?: ProgressAmount;
}

/** A worker of the session. Its own messages are in its session only. */
export interface WorkerItem extends ItemBase {
  readonly kind: "worker";
  readonly worker: Worker;
  /** The result of the last cycle. Null before the first result. */
  readonly result: string | null;
}

/** A table, a chart, a diagram or a reference which the agent shows. */
export interface ArtifactItem extends ItemBase {
  readonly kind: "artifact";
  readonly artifact: StoredArtifact;
}

/** Work which the agent handed over. */
export interface HandoffItem extends ItemBase {
  readonly kind: "handoff";
  readonly handoffId: string;
  readonly artifactId: string;
  readonly handoff: Handoff;
}

/** A compaction of the conversation. The turns above stay in the view. */
export interface CompactionItem extends ItemBase {
  readonly kind: "compaction";
  readonly receipt: CompactionReceipt;
}

/** Changes of watched files. */
export interface FileChangesItem extends ItemBase {
  readonly kind: "files";
  readonly entries: readonly FileChangeEntry[];
}

export interface ApprovalView {
  readonly approvalId: string;
  readonly at: number;
  readonly request: ApprovalRequested;
  readonly votes: readonly (ApprovalVoted & { readonly at: number })[];
  /** Null while the request is open. */
  readonly resolution: ApprovalResolution | null;
  /** The budget behind a request with the question `budget`. */
  readonly budget?: BudgetReached;
}

export interface ApprovalResolution extends ApprovalResolved {
  readonly at: number;
  /** The principal who decided. Null for a deadline, a cancel or a change. */
  readonly decidedBy: string | null;
}

export interface GrantView {
  readonly grantId: string;
  readonly tool: string;
  readonly label: string;
}

export type QueuedItem =
  | {
      readonly kind: "prompt";
      readonly id: string;
      readonly content: readonly PromptPart[];
      readonly principal: string | null;
      readonly at: number;
    }
  | {
      readonly kind: "message";
      readonly id: string;
      readonly mode: InjectMode;
      readonly content: readonly PromptPart[];
      readonly principal: string | null;
      readonly at: number;
    }
  | {
      readonly kind: "reminder";
      readonly id: string;
      readonly reminder: Reminder;
      readonly principal: string | null;
      readonly at: number;
    };
