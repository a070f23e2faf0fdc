import type { Failure } from "../errors.ts";
import type { CompactionPolicy, CompactionReceipt } from "../transcript/compaction.ts";
import type { ProjectionReceipt } from "../transcript/projection.ts";
import type { Usage } from "../usage.ts";

/** Events of the slice `transcript`: what the model is sent of the conversation. */
export type TranscriptEvent =
  | CompactionRequested
  | CompactionStarted
  | CompactionEnded
  | TranscriptCompacted
  | TranscriptProjected;

/** A compaction starts at the next point without a running invocation or tool. */
export interface CompactionRequested {
  readonly type: "compaction.requested";
  readonly compactionId: string;
  readonly mode: CompactionReceipt["mode"];
  readonly reason: CompactionReceipt["reason"];
  readonly policy: CompactionPolicy;
}

/** The compaction may invoke the model for a summary. A compaction lost with its process starts again. */
export interface CompactionStarted {
  readonly type: "compaction.started";
  readonly compactionId: string;
  /** 1 for the first start. */
  readonly attempt: number;
}

/** The compaction ended without a change of the conversation. */
export interface CompactionEnded {
  readonly type: "compaction.ended";
  readonly compactionId: string;
  /** `skipped`: nothing can be archived, or the exact count is below the threshold. */
  readonly outcome: "skipped" | "failed" | "cancelled";
  readonly reason: CompactionEndReason;
  readonly failure?: Failure;
  /** Tokens of summaries which were not used. Absent if none was requested. */
  readonly usage?: Usage;
}

export type CompactionEndReason =
  | "nothing_to_archive"
  | "below_threshold"
  | "summary_failed"
  | "too_many_attempts"
  | "timeout"
  | "cancelled";

/** The model's next request has the replacement and the kept messages. The log keeps the archived messages. */
export interface TranscriptCompacted {
  readonly type: "transcript.compacted";
  readonly compactionId: string;
  readonly receipt: CompactionReceipt;
  /** Tokens of the summary. Null if no model wrote one, or the provider reported none. */
  readonly usage: Usage | null;
}

/**
 * The next request to the model leaves out parts of the conversation, as configured. Logged before the request is sent,
 * if the counts differ from those of the previous projection.
 */
export interface TranscriptProjected {
  readonly type: "transcript.projected";
  readonly invocationId: string;
  readonly projection: ProjectionReceipt;
}
