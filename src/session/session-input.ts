import type { FileChangeEntry } from "../domain/outputs/file-watch.ts";
import type { Actor, Right } from "../domain/actor.ts";
import type { AgentSpec, QuiescePolicy } from "../domain/agent-spec.ts";
import type { BudgetAmounts, BudgetCaps, BudgetLevel } from "../domain/budget.ts";
import type { ApprovalRequested, ApprovalResolved } from "../domain/events/approval-events.ts";
import type { SessionMetadata } from "../domain/events/lifecycle-events.ts";
import type {
  ProcessGroup,
  ProgressAmount,
  ToolEnding,
  ToolCallPathsResolved,
} from "../domain/events/tool-events.ts";
import type { PromptPart } from "../domain/prompt.ts";
import type { ToolAttachments, StoredEmission } from "../domain/tools/tool-output.ts";
import type { Failure } from "../domain/errors.ts";
import type { JsonObject } from "../data/json.ts";
import type { ModelMessage } from "../domain/model/model-request.ts";
import type { PlanEntry } from "../domain/outputs/plan.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import type { TurnOutcome } from "../domain/events/turn-events.ts";
import type { SessionLineage } from "../domain/workers/session-lineage.ts";
import type { Reminder } from "../domain/reminder.ts";
import type { SessionMode } from "../domain/session-mode.ts";
import type { SessionCommand } from "../domain/session-command.ts";
import type { ToolResult } from "../domain/tools/tool-call.ts";
import type { CompactionEnded } from "../domain/events/transcript-events.ts";
import type { CompactionReceipt } from "../domain/transcript/compaction.ts";
import type { ProjectionReceipt } from "../domain/transcript/projection.ts";
import type { Usage } from "../domain/usage.ts";

/** An input of a session, with the time and a random seed, so `decide` needs neither clock nor random source. */
export type TimedInput = SessionInput & {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly seed: string;
  /** Files which changed on the disk since the agent read or wrote them. Set if the input starts an invocation. */
  readonly changedFiles?: readonly ChangedFile[];
};

export type SessionInput =
  | {
      readonly type: "open-requested";
      readonly agent: ConfiguredAgent;
      readonly principal: string;
      readonly title?: string;
      readonly metadata?: SessionMetadata;
      readonly workingDirectory?: string;
      readonly folders?: readonly string[];
      readonly label?: string;
      /** Requested id of the first upstream session. */
      readonly upstreamId?: string;
      readonly history?: readonly ModelMessage[];
      /** Mode of the copied session, or of the session which delegates. */
      readonly mode?: SessionMode;
      readonly lineage?: SessionLineage;
      readonly budget?: BudgetCaps;
      /** Reminders of the session which delegates. */
      readonly reminders?: readonly Reminder[];
      /** Applied right after opening. If this command is refused, the session stays open. */
      readonly firstCommand?: CommandInput;
    }
  | CommandInput
  | {
      readonly type: "provider-events";
      readonly invocationId: string;
      readonly outputs: readonly ProviderOutput[];
    }
  /**
   * The invocation failed without a stream. `mayHaveBeenSent` is false only if the request certainly never reached the
   * provider.
   */
  | {
      readonly type: "invocation-failed";
      readonly invocationId: string;
      readonly failure: Failure;
      readonly mayHaveBeenSent: boolean;
    }
  /** `agent`: digest of the definition used to resolve the paths. */
  | (Omit<ToolCallPathsResolved, "type"> & {
      readonly type: "paths-resolved";
      readonly agent: string;
    })
  | {
      readonly type: "process-started";
      readonly toolCallId: string;
      readonly attempt: number;
      readonly group: ProcessGroup;
    }
  /** All processes of the group have exited. */
  | { readonly type: "process-exited"; readonly toolCallId: string; readonly group: ProcessGroup }
  | {
      readonly type: "tool-progress";
      readonly toolCallId: string;
      readonly attempt: number;
      readonly text: string;
      readonly amount?: ProgressAmount;
    }
  | {
      readonly type: "tool-finished";
      readonly toolCallId: string;
      readonly attempt: number;
      readonly ending: ToolEnding;
      readonly result: ToolResult;
      readonly durationMs: number;
      readonly blobId?: string;
      readonly blobDigest?: string;
      readonly attachments?: ToolAttachments;
      readonly plan?: readonly PlanEntry[];
      readonly emissions?: readonly StoredEmission[];
    }
  | {
      readonly type: "upstream-settled";
      readonly upstreamId: string;
      readonly policy: QuiescePolicy;
    }
  /** The result of a reservation in the shared budgets. */
  | {
      readonly type: "budget-checked";
      readonly invocationId: string;
      readonly round: number;
      readonly result: BudgetCheckResult;
    }
  /** The result of an attempt to compact the conversation. */
  | {
      readonly type: "compaction-finished";
      readonly compactionId: string;
      readonly attempt: number;
      readonly result: CompactionResult;
    }
  /** The request of a running invocation leaves out parts of the conversation. */
  | {
      readonly type: "transcript-projected";
      readonly invocationId: string;
      readonly projection: ProjectionReceipt;
    }
  /** Coalesced changes of files of a subscription. */
  | {
      readonly type: "files-changed";
      readonly subscriptionId: string;
      readonly entries: readonly FileChangeEntry[];
    }
  /** An ended invocation is charged to the shared budgets. */
  | { readonly type: "budget-settled"; readonly invocationId: string }
  | {
      readonly type: "host-requested";
      readonly requestId: string;
      readonly clientId: string;
      readonly kind: string;
      readonly payload: JsonObject;
      readonly deadline: number;
    }
  /** The agent's tools have changed. `startingTool` names a tool about to run, whose start waits for this decision. */
  | {
      readonly type: "agent-changed";
      readonly agent: ConfiguredAgent;
      readonly startingTool?: { readonly toolCallId: string; readonly attempt: number };
    }
  | WorkerInput
  /** Client tools or servers which cannot be used. */
  | { readonly type: "client-tools-failed"; readonly problems: readonly Failure[] }
  /** A deadline may have passed. */
  | { readonly type: "time-passed" }
  /**
   * This process takes over a session whose previous owner has stopped. `agent`: the current definition, if it differs
   * from the log's; the old one is not used any further. `isSameProcess`: this process owned the session before, so its
   * clients are still connected. `invalidReceiptSeq`: position of a receipt which does not verify.
   */
  | {
      readonly type: "recovery-started";
      readonly epoch: number;
      readonly agent?: ConfiguredAgent;
      readonly isSameProcess?: boolean;
      readonly invalidReceiptSeq?: number;
    };

/** A report about the session of a worker. */
export type WorkerInput =
  /** The turn of a cycle has ended, or the cycle could not start. */
  | {
      readonly type: "worker-finished";
      readonly workerId: string;
      readonly cycle: number;
      readonly result: WorkerCycleResult;
    }
  /** An approver is asked in the worker's session. */
  | {
      readonly type: "worker-approval-requested";
      readonly workerId: string;
      /** The request as logged there. */
      readonly request: ApprovalRequested;
    }
  | {
      readonly type: "worker-approval-resolved";
      readonly workerId: string;
      readonly resolution: ApprovalResolved;
    }
  /** The session of an ended worker is at rest. */
  | { readonly type: "worker-closed"; readonly workerId: string; readonly usage: BudgetAmounts };

export interface WorkerCycleResult {
  readonly outcome: TurnOutcome;
  /** The agent's last message. */
  readonly text: string;
  readonly reason: string | null;
  readonly failure?: Failure;
  /** The handoff which the agent emitted in this cycle. Absent if there is none. */
  readonly handoffId?: string;
  /** Artifacts and handoffs of the worker's session so far. Default: 0. */
  readonly artifactCount?: number;
  /** Used by the worker's session so far. */
  readonly usage: BudgetAmounts;
}

export type BudgetCheckResult =
  | {
      readonly status: "reserved";
      readonly levels: readonly BudgetLevel[];
      /** Number of reserved tool calls. Absent for an invocation. */
      readonly toolCalls?: number;
    }
  | { readonly status: "reached"; readonly level: BudgetLevel };

export type CompactionResult =
  | {
      readonly status: "compacted";
      readonly receipt: CompactionReceipt;
      readonly usage: Usage | null;
    }
  | ({ readonly status: "skipped" | "failed" } & Pick<
      CompactionEnded,
      "reason" | "failure" | "usage"
    >);

export interface CommandInput {
  readonly type: "command-received";
  /** Images are stored as blobs. */
  readonly command: SessionCommand<PromptPart>;
  readonly actor: Actor;
  readonly rights: readonly Right[];
  /** The attachment of the sending client. Absent for senders without one. */
  readonly attachmentId?: string;
  /** The sender's id for this command, for deduplication. */
  readonly commandId?: string;
  /** Number of subscribers of the session, excluding the sender. */
  readonly readerCount?: number;
}

export interface ChangedFile {
  readonly path: string;
  /** Null if the file no longer exists. */
  readonly sha256: string | null;
}

export interface ConfiguredAgent {
  readonly digest: string;
  readonly spec: AgentSpec;
}

/** A provider event with the result of validating its tool call arguments. */
export interface ProviderOutput {
  readonly event: ProviderEvent;
  readonly problem?: string;
}
