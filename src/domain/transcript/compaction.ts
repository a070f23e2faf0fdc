import type { Failure } from "../errors.ts";

/**
 * How the older part of a conversation is replaced:
 *
 * - `none`: not at all; a command can still compact with another strategy.
 * - `truncate`: a note replaces the older messages.
 * - `summarize_middle`: a summary replaces the messages between the first message and the last ones.
 * - `summarize_all`: a summary replaces all messages.
 * - `hybrid`: a summary replaces the older messages. If the rest exceeds the hard limit, more messages are removed.
 */
export const COMPACTION_STRATEGIES = [
  "none",
  "truncate",
  "summarize_middle",
  "summarize_all",
  "hybrid",
] as const;

export type CompactionStrategy = (typeof COMPACTION_STRATEGIES)[number];

/** Compaction settings of an agent. */
export interface CompactionSpec {
  /** Default: `hybrid` for an agent without its own history, else `none`. */
  readonly strategy?: CompactionStrategy;
  /** The estimated tokens above which a conversation is compacted automatically. Default: 48,000. */
  readonly thresholdTokens?: number;
  /** Number of last messages which stay. Default: 10. */
  readonly keepLast?: number;
  /** `hybrid` removes further messages above this many tokens. Absent: no limit. */
  readonly hardLimitTokens?: number;
  /** Instructions for the summary, in place of the default instructions. */
  readonly instructions?: string;
}

/** Settings of a single compaction on command, in place of the settings of the agent. */
export interface CompactionOptions {
  readonly strategy?: Exclude<CompactionStrategy, "none">;
  readonly keepLast?: number;
  readonly instructions?: string;
}

/** The resolved settings of a compaction. */
export interface CompactionPolicy {
  readonly strategy: CompactionStrategy;
  readonly thresholdTokens: number;
  readonly thresholdSource: "default" | "agent";
  readonly keepLast: number;
  readonly hardLimitTokens: number | null;
  /** Null: the default instructions. */
  readonly instructions: string | null;
  readonly instructionSource: "default" | "agent" | "command";
}

const DEFAULT_THRESHOLD_TOKENS = 48_000;
const DEFAULT_KEEP_LAST = 10;

interface CompactedAgent {
  readonly compaction?: CompactionSpec;
  readonly provider: { readonly keepsHistory?: boolean };
}

/** Returns the settings of an automatic compaction, or with `options` of a compaction on command. */
export function resolveCompactionPolicy(
  { compaction = {}, provider }: CompactedAgent,
  options?: CompactionOptions,
): CompactionPolicy {
  const { thresholdTokens, hardLimitTokens = null } = compaction;
  const automatic = compaction.strategy ?? (provider.keepsHistory === false ? "hybrid" : "none");
  const requested = options?.strategy ?? (automatic === "none" ? "hybrid" : automatic);
  const source = options?.instructions === undefined ? compaction : options;
  return {
    strategy: options === undefined ? automatic : requested,
    thresholdTokens: thresholdTokens ?? DEFAULT_THRESHOLD_TOKENS,
    thresholdSource: thresholdTokens === undefined ? "default" : "agent",
    keepLast: options?.keepLast ?? compaction.keepLast ?? DEFAULT_KEEP_LAST,
    hardLimitTokens,
    instructions: source.instructions ?? null,
    instructionSource:
      source.instructions === undefined ? "default" : source === options ? "command" : "agent",
  };
}

/** Tokens of a conversation. `not_measured` is distinct from a measured 0. */
export type TokenMeasurement =
  | { readonly source: "tokenizer" | "estimate"; readonly tokens: number }
  | { readonly source: "not_measured"; readonly tokens: null };

/** The result of a compaction. The same receipt is in the log, and in every update about the compaction. */
export interface CompactionReceipt {
  readonly receiptId: string;
  readonly schemaVersion: 1;
  readonly mode: "manual" | "automatic";
  readonly reason: "command" | "threshold";
  /** The applied strategy. `truncate` in place of a requested summary if the summary failed above the hard limit. */
  readonly strategy: CompactionStrategy;
  readonly requestedStrategy: CompactionStrategy;
  readonly engineStrategy: "llm" | "truncate";
  readonly policy: CompactionPolicy;
  /** Number of first messages which stay before the summary. */
  readonly keptHead: number;
  /** Number of messages after `keptHead` which the summary or the note replaces. */
  readonly archivedMessages: number;
  /** Number of archived messages which the summary does not cover. */
  readonly truncatedMessages: number;
  readonly keptTail: number;
  readonly before: TokenMeasurement;
  readonly after: TokenMeasurement;
  /** The text which replaces the archived messages. */
  readonly replacement: string;
  /** The summary. Null if no model wrote one. */
  readonly recap: string | null;
  /** Why the requested summary failed. Absent if none was requested, or it succeeded. */
  readonly failure?: Failure;
  /** The blob with the archived messages as JSON. Null if storing failed. */
  readonly snapshotAssetId: string | null;
}
