import type { Seed } from "../../domain/id.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Store } from "../../store/store.ts";
import type { Agent } from "./agent/agent.ts";
import type { OpenClientTools } from "./agent/session-client-tools.ts";
import type { MemoryLimits } from "./idle-eviction.ts";
import type { ReceiptHeads } from "./log/receipt-head.ts";
import type { VerifySignature } from "./log/receipt-verifier.ts";
import type { SignContent } from "./log/append-decision.ts";

export interface SessionsOptions {
  readonly store: Store;
  /** The first agent is the default. */
  readonly agents: readonly Agent[];
  readonly clock: SteadyClock;
  /** Identifies this process among possible owners of a session. */
  readonly owner: string;
  readonly coalesceMs?: number;
  /**
   * Deterministic id seed for golden tests: 13 characters, unique per call. A seed of 23 characters also replaces the
   * time in ids. Default: random.
   */
  readonly seed?: Seed;
  /** Signs receipts. Without it, they are unsigned. */
  readonly sign?: SignContent;
  /** Verifies receipts: approvals count only if signed by this user. Without it, the log is trusted. */
  readonly verify?: VerifySignature;
  /** Records the last receipt of each log. Without it, a truncated log is not detected. */
  readonly heads?: ReceiptHeads;
  /**
   * Milliseconds. A session unused for this long is evicted from memory; its next command loads it from the log.
   * Default: 1 minute.
   */
  readonly idleMs?: number;
  /**
   * Limits of sessions in memory. Beyond them, the least recently used sessions are evicted earlier. Default: 1,000
   * sessions, 64 MB.
   */
  readonly memory?: Partial<MemoryLimits>;
  /** Aborted at process shutdown: sessions being opened or resumed are abandoned. */
  readonly signal?: AbortSignal;
  /** Opens client tools. Without it, clients cannot add tools. */
  readonly openClientTools?: OpenClientTools;
  /** Called with errors which no caller receives. */
  report?(error: unknown): void;
  /** Called when a session cannot continue here after all retries. Its next use tries again. */
  onSessionFailed?(sessionId: string, error: unknown): void;
}
