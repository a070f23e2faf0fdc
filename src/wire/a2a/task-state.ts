import { createTextBuilder, type TextBuilder } from "../../text/text-builder.ts";
import type { ApprovalRequested } from "../../domain/events/approval-events.ts";
import type { LogPosition } from "../../domain/events/log-position.ts";
import type { SessionLineage } from "../../domain/workers/session-lineage.ts";
import type { Worker } from "../../domain/workers/worker.ts";
import type { TaskArtifact, TaskMessage, TaskStatus } from "./task.ts";

/** The progress of one task, folded from the events of its session since its prompt. */
export interface TaskFold {
  readonly position: LogPosition;
  /** Null for a root session. */
  readonly lineage: SessionLineage | null;
  /** Null before the prompt. */
  promptId: string | null;
  /** Null before the turn starts. */
  turnId: string | null;
  status: TaskStatus;
  /** Position of the last event that was applied. */
  sequence: number;
  readonly history: TaskMessage[];
  /** Messages of the agent in the turn, in the order of their start. */
  readonly messages: Map<string, MessageDraft>;
  /** Artifacts which are no messages, by id. */
  readonly artifacts: Map<string, TaskArtifact>;
  /** Ids of the A2A messages which had an effect on the task, as command ids. */
  readonly causes: Set<string>;
  /** Who resolved the last request; undefined for a deadline. Null before the first. */
  lastResolvedBy: string | undefined | null;
  /** Open requests to people, oldest first. */
  readonly openApprovals: Map<string, ApprovalRequested>;
  /** Workers which this task started. */
  readonly workers: Map<string, Worker>;
}

/** A message of the agent. Each becomes one artifact of the task. */
export interface MessageDraft {
  readonly blocks: Map<number, BlockDraft>;
  /** Set if the provider replaced the whole message. */
  replacement: string | null;
}

export interface BlockDraft {
  readonly content: TextBuilder;
  isFinished: boolean;
}

export function createTaskFold(position: LogPosition, lineage: SessionLineage | null): TaskFold {
  return {
    position,
    lineage,
    promptId: null,
    turnId: null,
    status: { state: "submitted", at: 0 },
    sequence: 0,
    history: [],
    messages: new Map(),
    artifacts: new Map(),
    causes: new Set(),
    lastResolvedBy: null,
    openApprovals: new Map(),
    workers: new Map(),
  };
}

/** Returns the draft of a block. Creates the draft at the first piece of the block. */
export function openBlock({ blocks }: MessageDraft, block: number): BlockDraft {
  const known = blocks.get(block);
  if (known !== undefined) return known;
  const opened: BlockDraft = { content: createTextBuilder(), isFinished: false };
  blocks.set(block, opened);
  return opened;
}
