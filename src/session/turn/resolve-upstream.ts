import type { TimedInput } from "../session-input.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { hasUnsentContent, type Upstream } from "./turn-state.ts";

/**
 * Returns the upstream session for the next invocation. Opens a new one if there is none, or if the provider has
 * discarded it according to its time limits. Undefined while the current one must settle first.
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

/** Opens a new upstream session. `requestedId` may name one which already exists at the provider. */
export function openNewUpstream(
  decision: Decision,
  isSeeded: boolean,
  requestedId: string | null = null,
): string {
  // Providers require ids of at least 33 characters.
  const upstreamId = requestedId ?? `spanline-${decision.ids.next("ses").slice("ses_".length)}`;
  decision.emit({ type: "upstream.opened", upstreamId, seeded: isSeeded });
  return upstreamId;
}

/** Opens a new upstream session from the log, if the provider keeps its own history and has started it. */
export function reseedUpstream(decision: Decision): void {
  const { upstream } = decision.state.turn;
  if (readAgentSpec(decision).provider.keepsHistory === false) return;
  if (upstream !== null) openNewUpstream(decision, true);
}

type UpstreamSettledInput = Extract<TimedInput, { readonly type: "upstream-settled" }>;

export function settleUpstream(
  decision: Decision,
  { upstreamId, policy }: UpstreamSettledInput,
): void {
  const { upstream } = decision.state.turn;
  if (upstream?.upstreamId !== upstreamId || !upstream.isUncertain) return;
  // The next invocation opens a new upstream session, and the turn may have started without restating lost results.
  if (readAgentSpec(decision).settle === "reseed") return;
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

/** A stateless provider needs no settling, unless it reported a conflict in this turn. */
function canSkipSettling(decision: Decision): boolean {
  const { keepsHistory } = readAgentSpec(decision).provider;
  return keepsHistory === false && decision.state.turn.current?.conflicts === 0;
}

/** Whether a prompt can be sent while the provider waits for tool results: only together with them. */
function canCarryPrompt(decision: Decision, { pendingToolCalls }: Upstream): boolean {
  const { injectionPoints } = readAgentSpec(decision).provider;
  return (
    pendingToolCalls === null ||
    !hasUnsentContent(decision.state.turn.current) ||
    injectionPoints.includes("tool-results")
  );
}
