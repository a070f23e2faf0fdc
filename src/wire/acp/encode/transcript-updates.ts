import type { CompactionPolicy, CompactionReceipt } from "../../../domain/transcript/compaction.ts";
import type { VendorFields } from "./vendor-fields.ts";

/** Returns the fields of `transcript_compacted`. A count which was not measured is null. */
export function toCompactedFields(
  receipt: CompactionReceipt,
): VendorFields["transcript_compacted"] {
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
