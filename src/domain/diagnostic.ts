/** Every kind of anomaly in a stream. `docs/errors.md` explains each code; a test compares the two lists. */
export const DIAGNOSTIC_CODES = [
  "checksum_mismatch",
  "duplicate_header",
  "malformed_event",
  "message_start_missing",
  "message_stop_missing",
  "event_after_end",
  "failure_repeated",
  "block_stop_missing",
  "block_stop_unmatched",
  "block_kind_mismatch",
  "block_index_invalid",
  "tool_input_unmatched",
  "tool_input_invalid",
  "tool_id_missing",
  "tool_name_missing",
  "tool_id_repeated",
  "tool_result_unmatched",
  "tool_result_missing",
  "stop_reason_contradicted",
  "stop_reason_unknown",
  "usage_invalid",
  "unknown_event",
  "unknown_field",
  "unpaired_surrogate",
  "text_disagrees",
  "content_lost",
  "noise_skipped",
  "number_not_exact",
  "cut_after_end",
  "equipment_unusable",
] as const;

export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number];

/** A problem in a stream or a session which did not stop processing. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly message: string;
  /** Byte position in the stream. Absent if the reader does not track positions. */
  readonly offset?: number;
  /** Number of occurrences. Absent: one. */
  readonly count?: number;
}
