import type { Input } from "../input.ts";
import { agentOf, type Work } from "../work.ts";
import { isSpeaking, type Upstream } from "./turn-state.ts";

/**
 * The conversation that the next call belongs to; begins a new one where there is none, or where the other side has let
 * it go by our clock. Undefined while the one there is has to come to rest first.
 */
export function openUpstream(work: Work): string | undefined {
  const { upstream, isHistoryGiven, firstUpstreamId } = work.state.turn;
  if (upstream === null) return begin(work, isHistoryGiven, firstUpstreamId);
  if (isLetGo(work, upstream)) return begin(work, true);
  if (!upstream.isUncertain || isForgotten(work))
    return canCarry(work, upstream) ? upstream.upstreamId : begin(work, true);
  return agentOf(work).settle === "reseed" ? begin(work, true) : undefined;
}

/** Begins with what the log has. An id that was `given` may be that of a conversation which exists. */
export function begin(work: Work, seeded: boolean, given: string | null = null): string {
  // Providers want ids of at least 33 characters.
  const upstreamId = given ?? `spanline-${work.ids.next("ses").slice("ses_".length)}`;
  work.emit({ type: "upstream.opened", upstreamId, seeded });
  return upstreamId;
}

type Settled = Extract<Input, { readonly type: "settled" }>;

export function settle(work: Work, { upstreamId, by }: Settled): void {
  const { upstream } = work.state.turn;
  if (upstream?.upstreamId !== upstreamId || !upstream.isUncertain) return;
  work.emit({ type: "upstream.settled", upstreamId, by });
}

function isLetGo(work: Work, { usedAt, openedAt, calls }: Upstream): boolean {
  const { idleMs, lifetimeMs } = agentOf(work).provider;
  if (calls === 0) return false;
  return (
    (idleMs !== undefined && work.at - usedAt >= idleMs) ||
    (lifetimeMs !== undefined && work.at - openedAt >= lifetimeMs)
  );
}

/** Where nothing is remembered nothing goes on: only one that said that it is busy has to be given time. */
function isForgotten(work: Work): boolean {
  const { keepsHistory } = agentOf(work).provider;
  return keepsHistory === false && work.state.turn.current?.conflicts === 0;
}

/** A prompt to an agent that still waits for results has to go beside them. */
function canCarry(work: Work, { waiting }: Upstream): boolean {
  const { seams } = agentOf(work).provider;
  return waiting === null || !isSpeaking(work.state.turn.current) || seams.includes("tool-results");
}
