import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { resolveCompactionPolicy } from "../../domain/transcript/compaction.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { refuse } from "../refuse-command.ts";
import type { TimedInput } from "../session-input.ts";
import type { RunningCompaction } from "./transcript-state.ts";

type CompactCommand = Extract<SessionCommand, { readonly type: "compact" }>;

/** Requests a compaction. The compaction starts at once, or after the running invocation and its tools. */
export function requestCompaction(decision: Decision, { options }: CompactCommand): CommandReply {
  const { requested, running } = decision.state.transcript;
  if (requested !== null || running !== null) {
    const message = "A compaction is already running. Fix: wait for its end";
    return refuse("conflict", message, { reason: "compaction_running" });
  }
  const policy = resolveCompactionPolicy(readAgentSpec(decision), options ?? {});
  const compactionId = decision.ids.next("compact");
  const cause = { mode: "manual", reason: "command" } as const;
  decision.emit({ type: "compaction.requested", compactionId, ...cause, policy });
  return { status: "accepted", compactionId };
}

/**
 * Starts a requested compaction, or an automatic one above the threshold. Called only between invocations, without
 * running tools. Returns true while a compaction runs, during which no invocation may start.
 */
export function advanceCompaction(
  decision: Decision,
  point: "between-turns" | "invocation",
): boolean {
  if (decision.state.transcript.running !== null) return true;
  if (decision.state.transcript.requested === null && point === "invocation")
    requestAutomatically(decision);
  const { requested } = decision.state.transcript;
  if (requested === null) return false;
  const { compactionId } = requested;
  decision.emit({ type: "compaction.started", compactionId, attempt: 1 }, null);
  return true;
}

function requestAutomatically(decision: Decision): void {
  const { estimatedTokens, retryAboveTokens } = decision.state.transcript;
  const policy = resolveCompactionPolicy(readAgentSpec(decision));
  if (policy.strategy === "none") return;
  if (estimatedTokens <= Math.max(policy.thresholdTokens, retryAboveTokens)) return;
  const compactionId = decision.ids.next("compact");
  const cause = { mode: "automatic", reason: "threshold" } as const;
  decision.emit({ type: "compaction.requested", compactionId, ...cause, policy }, null);
}

type CompactionInput = Extract<TimedInput, { readonly type: "compaction-finished" }>;

/** Applies the result of a compaction. A result of an ended compaction is ignored. */
export function applyCompaction(decision: Decision, input: CompactionInput): boolean {
  const { compactionId, attempt, result } = input;
  const { running } = decision.state.transcript;
  if (running?.compactionId !== compactionId || running.attempt !== attempt) return false;
  if (result.status === "compacted") {
    const { receipt, usage } = result;
    decision.emit({ type: "transcript.compacted", compactionId, receipt, usage });
    return true;
  }
  const { status: outcome, ...ending } = result;
  decision.emit({ type: "compaction.ended", compactionId, outcome, ...ending });
  return false;
}

/** Repeats a compaction after its process has exited. Its summary has no effect apart from its response. */
export function repeatCompaction(decision: Decision): void {
  const { running } = decision.state.transcript;
  if (running === null) return;
  const { compactionId, attempt } = running;
  if (attempt < MAX_ATTEMPTS)
    return decision.emit({ type: "compaction.started", compactionId, attempt: attempt + 1 });
  // A compaction interrupted by every restart may itself crash the bridge.
  const ending = { outcome: "failed", reason: "too_many_attempts" } as const;
  decision.emit({ type: "compaction.ended", compactionId, ...ending });
}

const MAX_ATTEMPTS = 3;

/** Cancels the requested or running compaction. */
export function cancelCompaction(decision: Decision): void {
  const { requested, running } = decision.state.transcript;
  const compaction = running ?? requested;
  if (compaction === null) return;
  const { compactionId } = compaction;
  const ending = { outcome: "cancelled", reason: "cancelled" } as const;
  decision.emit({ type: "compaction.ended", compactionId, ...ending });
}

/** Ends a compaction which has not finished in time. */
export function expireCompaction(decision: Decision): void {
  const { running } = decision.state.transcript;
  if (running === null || computeCompactionDeadline(running) > decision.at) return;
  const { compactionId } = running;
  const ending = { outcome: "failed", reason: "timeout" } as const;
  decision.emit({ type: "compaction.ended", compactionId, ...ending });
}

/** Milliseconds since 1970. A session with a deadline is resumed after a restart, even without a running turn. */
export function computeCompactionDeadline({ startedAt }: RunningCompaction): number {
  return startedAt + COMPACTION_TIMEOUT_MS;
}

const COMPACTION_TIMEOUT_MS = 900_000;
