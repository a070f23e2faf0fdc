/**
 * Parts of the conversation which a request to the model leaves out. The log and the kept conversation never change.
 *
 * - `raw`: nothing.
 * - `clean_tool_repair`: tool calls with invalid arguments, once a later call of the same tool has a result.
 * - `squash_failed_calls`: failed tool calls, once a later call of the same tool has a result.
 * - `reachability_gc`: long tool output to which the last messages do not refer.
 */
export const PROJECTION_POLICIES = [
  "raw",
  "clean_tool_repair",
  "squash_failed_calls",
  "reachability_gc",
] as const;

export type ProjectionPolicy = (typeof PROJECTION_POLICIES)[number];

/** Projection settings of an agent. */
export interface ProjectionSpec {
  /** Default: `raw`. */
  readonly policy?: ProjectionPolicy;
  /** Regular expressions in RE2 syntax. Matches are replaced in every request to the model. */
  readonly redact?: readonly string[];
  /** Also replaces keys and tokens in well-known formats. Default: false. */
  readonly redactSecrets?: boolean;
  /** Number of last messages in which references keep tool output, for `reachability_gc`. Default: 8. */
  readonly rootWindow?: number;
  /** Shorter tool output always stays, for `reachability_gc`. Characters. Default: 500. */
  readonly minBodyCharacters?: number;
}

/** The result of a projection of one request. */
export interface ProjectionReceipt {
  readonly policy: ProjectionPolicy;
  /** `redaction` if the policy left nothing out. */
  readonly reason: "policy" | "redaction" | "policy_and_redaction" | "signed_reasoning";
  /** SHA-256 of the sent messages as canonical JSON. */
  readonly prefixHash: string;
  /** Number of content blocks which are sent. */
  readonly keptCount: number;
  /** Number of content blocks which are left out or replaced by a note. */
  readonly droppedCount: number;
  /** A message with signed reasoning would have changed, so the provider would refuse the request. It is sent unchanged. */
  readonly providerSafetyBlocked: boolean;
  /** Number of replaced matches. */
  readonly redactedCount: number;
  /** Estimated tokens which are left out. */
  readonly reclaimedTokens: number;
  /** Number of messages in which references were looked up. Null for other policies than `reachability_gc`. */
  readonly rootsConsulted: number | null;
  /** JSON pointers to the blocks with replaced matches, at most 100. */
  readonly redactionPointers: readonly string[];
}

/** The counts of a projection. A request with the counts of the last logged projection is not logged again. */
export type ProjectionCounts = Pick<
  ProjectionReceipt,
  "policy" | "droppedCount" | "redactedCount" | "providerSafetyBlocked"
>;

export const MAX_REDACTION_POINTERS = 100;
