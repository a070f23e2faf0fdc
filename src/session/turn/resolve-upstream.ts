import type { TimedInput } from "../session-input.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { hasUnsentContent, type Upstream } from "./turn-state.ts";

/**
 * The conversation that the next call belongs to; begins a new one where there is none, or where the other side has let
 * it go by our clock. Undefined while the one there is has to come to rest first.
 */
export function resolveUpstream(decision: Decision): string | undefined {
  const { upstream, isHistoryImported, firstUpstreamId } = decision.state.turn;
  if (upstream === null) return openNewUpstream(decision, isHistoryImported, firstUpstreamId);
  if (hasExpired(decision, upstream)) return openNewUpstream(decision, true);
  if (!upstream.isUncertain || canSkipSettling(decision))
    return canCarryPrompt(decision, upstream)
      ? upstream.upstreamId
      : openNewUpstream(decision, true);
  return readAgentSpec(decision).settle === "reseed" ? openNewUpstream(decision, true) : undefined;
}

/** Begins with what the log has. An id that was `given` may be that of a conversation which exists. */
export function openNewUpstream(
  decision: Decision,
  isSeeded: boolean,
  requestedId: string | null = null,
): string {
  // Providers want ids of at least 33 characters.
  const upstreamId = requestedId ?? `spanline-${decision.ids.next("ses").slice("ses_".length)}`;
  decision.emit({ type: "upstream.opened", upstreamId, seeded: isSeeded });
  return upstreamId;
}

type UpstreamSettledInput = Extract<TimedInput, { readonly type: "upstream-settled" }>;

export function settleUpstream(
  decision: Decision,
  { upstreamId, policy }: UpstreamSettledInput,
): void {
  const { upstream } = decision.state.turn;
  if (upstream?.upstreamId !== upstreamId || !upstream.isUncertain) return;
  decision.emit({ type: "upstream.settled", upstreamId, policy });
}

function hasExpired(decision: Decision, { usedAt, openedAt, invocationCount }: Upstream): boolean {
  const { idleMs, lifetimeMs } = readAgentSpec(decision).provider;
  if (invocationCount === 0) return false;
  return (
    (idleMs !== undefined && decision.at - usedAt >= idleMs) ||
    (lifetimeMs !== undefined && decision.at - openedAt >= lifetimeMs)
  );
}

/** Where nothing is remembered nothing goes on: only one that said that it is busy has to be given time. */
function canSkipSettling(decision: Decision): boolean {
  const { keepsHistory } = readAgentSpec(decision).provider;
  return keepsHistory === false && decision.state.turn.current?.conflicts === 0;
}

/** A prompt to an agent that still waits for results has to go beside them. */
function canCarryPrompt(decision: Decision, { pendingToolCalls }: Upstream): boolean {
  const { injectionPoints } = readAgentSpec(decision).provider;
  return (
    pendingToolCalls === null ||
    !hasUnsentContent(decision.state.turn.current) ||
    injectionPoints.includes("tool-results")
  );
}
