import type { CompactionPolicy, CompactionReceipt } from "../../../domain/transcript/compaction.ts";
import type { Emit } from "../../../domain/codec.ts";
import type {
  CompactionEnded,
  CompactionStarted,
  TranscriptCompacted,
} from "../../../domain/events/transcript-events.ts";
import { formatCompactionEnd } from "../../../domain/transcript/format-compaction.ts";
import { fitText } from "../fit-json.ts";
import type { CompactionUpdate } from "./acp-session-update.ts";
import { emitUpdate, emitVendorUpdate, type AcpOutput, type UpdateState } from "./update-state.ts";
import { encodeTranscriptCompacted } from "./vendor-updates.ts";
import type { VendorFields } from "./vendor-fields.ts";

export function encodeCompactionStarted(
  state: UpdateState,
  { compactionId }: CompactionStarted,
  emit: Emit<AcpOutput>,
): void {
  emitCompaction(state, { compactionId, status: "in_progress" }, emit);
}

/** A skipped compaction has changed nothing, as a cancelled one. */
export function encodeCompactionEnded(
  state: UpdateState,
  event: CompactionEnded,
  emit: Emit<AcpOutput>,
): void {
  const { compactionId, outcome } = event;
  const isFailed = outcome === "failed";
  const error = fitText(formatCompactionEnd(event), state.lineBytes / 4);
  const change = isFailed
    ? ({ status: "failed", error } as const)
    : { status: "cancelled" as const };
  emitCompaction(state, { compactionId, ...change }, emit);
}

export function encodeCompacted(
  state: UpdateState,
  { compactionId, receipt }: TranscriptCompacted,
  emit: Emit<AcpOutput>,
): void {
  const { recap } = receipt;
  const text = recap === null ? "" : fitText(recap, state.lineBytes / 2);
  const summary = recap === null ? {} : { summary: [{ type: "text", text }] as const };
  emitCompaction(state, { compactionId, status: "completed", ...summary }, emit);
  emitVendorUpdate(state, encodeTranscriptCompacted(toCompactedFields(receipt)), emit);
}

function emitCompaction(
  state: UpdateState,
  change: Omit<CompactionUpdate, "sessionUpdate">,
  emit: Emit<AcpOutput>,
): void {
  if (!state.getProfile().showsCompactions) return;
  emitUpdate(state, { sessionUpdate: "compaction_update", ...change }, emit);
}

/** Returns the fields of `transcript_compacted`. A count which was not measured is null. */
function toCompactedFields(receipt: CompactionReceipt): VendorFields["transcript_compacted"] {
  const { mode, reason, strategy, archivedMessages, before, after, snapshotAssetId } = receipt;
  const { recap, policy } = receipt;
  const hasSummary = recap !== null;
  return {
    mode: mode === "automatic" ? "auto" : mode,
    reason,
    strategy,
    archivedMessages,
    estimatedTokensBefore: before.tokens,
    estimatedTokensAfter: after.tokens,
    snapshotAssetId,
    instructionMode: hasSummary ? (policy.instructions === null ? "default" : "replace") : null,
    instructionSource: hasSummary ? policy.instructionSource : null,
    compactionPolicy: encodePolicy(receipt, policy),
  };
}

function encodePolicy(
  { receiptId, schemaVersion, engineStrategy, requestedStrategy, before, after }: CompactionReceipt,
  { thresholdTokens, thresholdSource, keepLast, hardLimitTokens }: CompactionPolicy,
): VendorFields["transcript_compacted"]["compactionPolicy"] {
  return {
    receipt_id: receiptId,
    schema_version: schemaVersion,
    engine_strategy: engineStrategy,
    requested_strategy: requestedStrategy,
    resolved_threshold_tokens: thresholdTokens,
    threshold_source: thresholdSource,
    hard_limit_tokens: hardLimitTokens,
    keep_last: keepLast,
    source_measurement: before.source,
    result_measurement: after.source,
  };
}
