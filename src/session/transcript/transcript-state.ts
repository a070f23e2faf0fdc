import type { CompactionRequested } from "../../domain/events/transcript-events.ts";
import type { Draft } from "../../domain/events/envelope.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import type { EventOf, SessionEvent } from "../../domain/events/session-event.ts";
import {
  estimateMessagesTokens,
  estimateTextTokens,
  estimateToolCallTokens,
  estimateToolResultTokens,
  IMAGE_TOKENS,
  MESSAGE_TOKENS,
} from "../../domain/transcript/estimate-tokens.ts";
import type { ProjectionCounts } from "../../domain/transcript/projection.ts";
import type { PromptPart } from "../../domain/prompt.ts";

export interface TranscriptState {
  /** Waits for a point without a running invocation or tool. */
  readonly requested: RequestedCompaction | null;
  /** No invocation starts until the compaction has ended. */
  readonly running: RunningCompaction | null;
  /** Estimated tokens of the conversation since the last compaction, including its result. */
  readonly estimatedTokens: number;
  /** After a compaction without effect, the next automatic one waits until the estimate exceeds this value. */
  readonly retryAboveTokens: number;
  /** Delivered reminders which a compaction repeats, oldest first. */
  readonly preserved: readonly PreservedReminder[];
  /** The counts of the last logged projection. Null if none was logged. */
  readonly projected: ProjectionCounts | null;
}

export interface PreservedReminder {
  readonly body: string;
  readonly dedupeKey?: string;
  /** Turns until the reminder expires, including the running one. Absent: the reminder does not expire. */
  readonly turnsLeft?: number;
}

type RequestedCompaction = Omit<CompactionRequested, "type">;

export interface RunningCompaction extends RequestedCompaction {
  readonly attempt: number;
  /** Time of this attempt's start, in milliseconds since 1970. */
  readonly startedAt: number;
}

export const initialTranscript: TranscriptState = {
  requested: null,
  running: null,
  estimatedTokens: 0,
  retryAboveTokens: 0,
  preserved: [],
  projected: null,
};

export function evolveTranscript(
  transcript: TranscriptState,
  { event, at }: Draft,
): TranscriptState {
  switch (event.type) {
    case "compaction.requested": {
      const { type: _, ...requested } = event;
      return { ...transcript, requested };
    }
    case "compaction.started": {
      const started = transcript.requested ?? transcript.running;
      if (started === null) return transcript;
      const running = { ...started, attempt: event.attempt, startedAt: at };
      return { ...transcript, requested: null, running };
    }
    case "compaction.ended":
      return {
        ...transcript,
        requested: null,
        running: null,
        retryAboveTokens: Math.ceil(transcript.estimatedTokens * RETRY_GROWTH),
      };
    case "transcript.compacted": {
      const { after } = event.receipt;
      const estimatedTokens = after.tokens ?? transcript.estimatedTokens;
      // If the kept messages alone exceed the threshold, every invocation would otherwise compact again.
      const retryAboveTokens = Math.ceil(estimatedTokens * RETRY_GROWTH);
      return { ...transcript, requested: null, running: null, estimatedTokens, retryAboveTokens };
    }
    case "reminder.emitted":
      return { ...transcript, preserved: addPreserved(transcript.preserved, event) };
    case "turn.finished":
      return transcript.preserved.length === 0
        ? transcript
        : { ...transcript, preserved: transcript.preserved.flatMap(ageReminder) };
    case "transcript.projected": {
      const { policy, droppedCount, redactedCount, providerSafetyBlocked } = event.projection;
      const projected = { policy, droppedCount, redactedCount, providerSafetyBlocked };
      return { ...transcript, projected };
    }
    default: {
      const added = estimateAddedTokens(event);
      if (added === 0) return transcript;
      return { ...transcript, estimatedTokens: transcript.estimatedTokens + added };
    }
  }
}

const RETRY_GROWTH = 1.25;

/** A newer reminder with the same key replaces the older one. */
function addPreserved(
  preserved: TranscriptState["preserved"],
  { reminder, turnsLeft }: EventOf<"reminder.emitted">,
): TranscriptState["preserved"] {
  if (reminder.preserveOnCompact !== true) return preserved;
  const { body, dedupeKey } = reminder;
  const others = preserved.filter(
    (other) => dedupeKey === undefined || other.dedupeKey !== dedupeKey,
  );
  const added = { body, ...omitUndefined({ dedupeKey, turnsLeft }) };
  return [...others, added].slice(-MAX_PRESERVED);
}

const MAX_PRESERVED = 32;

function ageReminder(reminder: PreservedReminder): PreservedReminder[] {
  const { turnsLeft } = reminder;
  if (turnsLeft === undefined) return [reminder];
  return turnsLeft <= 1 ? [] : [{ ...reminder, turnsLeft: turnsLeft - 1 }];
}

function estimateAddedTokens(event: SessionEvent): number {
  switch (event.type) {
    case "history.imported":
      return estimateMessagesTokens(event.messages);
    case "message.sent":
      return MESSAGE_TOKENS + event.content.reduce(addPartTokens, 0);
    case "message.started":
      return MESSAGE_TOKENS;
    case "text.finished":
      return estimateTextTokens(event.text);
    case "thought.finished":
      return estimateTextTokens(event.text) + estimateTextTokens(event.redacted ?? "");
    case "tool_call.received":
      return estimateToolCallTokens(event.toolCall);
    case "tool.finished":
      return MESSAGE_TOKENS + estimateToolResultTokens(event.result);
    default:
      return 0;
  }
}

function addPartTokens(tokens: number, part: PromptPart): number {
  return tokens + (part.type === "text" ? estimateTextTokens(part.text) : IMAGE_TOKENS);
}
