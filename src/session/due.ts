import type { Settle } from "../domain/agent-event.ts";
import type { JsonObject } from "../domain/json.ts";
import type { BoundAgent } from "./input.ts";
import type { SessionState } from "./state.ts";
import type { Outgoing, Stage, Upstream } from "./turn/turn-state.ts";

/** Something to be done outside, known by an id: what is due and not under way is begun, what is no longer due is stopped. */
export type Effect =
  | {
      readonly type: "call";
      readonly callId: string;
      readonly upstreamId: string;
      readonly outgoing: Outgoing;
      /** The conversation begins with what the log has, and the agent has not heard that yet. */
      readonly isSeeding: boolean;
    }
  | {
      readonly type: "tool";
      readonly toolCallId: string;
      readonly attempt: number;
      readonly name: string;
      /** The provider's id of the call. */
      readonly providerCallId: string;
      readonly input: JsonObject;
    }
  | {
      readonly type: "settle";
      readonly upstreamId: string;
      readonly by: Settle;
      /** How often it was tried in this turn. */
      readonly round: number;
    };

export interface Due {
  readonly effects: ReadonlyMap<string, Effect>;
  /** When a deadline comes, in milliseconds since 1970. */
  readonly wakeAt: number | null;
}

export function due(state: SessionState): Due {
  const effects = new Map<string, Effect>();
  for (const effect of dueEffects(state)) effects.set(effectId(effect), effect);
  return { effects, wakeAt: nextDeadline(state) };
}

function effectId(effect: Effect): string {
  switch (effect.type) {
    case "call":
      return effect.callId;
    case "tool":
      return `${effect.toolCallId}/${effect.attempt}`;
    case "settle":
      return `settle/${effect.upstreamId}/${effect.round}`;
    default:
      return effect satisfies never;
  }
}

function* dueEffects({ turn, tools, agent }: SessionState): Generator<Effect> {
  const { current, upstream } = turn;
  if (current?.stage.type === "calling") {
    const { callId, upstreamId, outgoing } = current.stage.call;
    yield { type: "call", callId, upstreamId, outgoing, isSeeding: isSeeding(upstream) };
  }
  if (
    current !== null &&
    upstream?.isUncertain === true &&
    isNextCallWanted(current.stage, agent)
  ) {
    const { settle = "wait", provider } = agent?.facts ?? {};
    const by = settle === "stop" && provider?.canStop !== true ? "wait" : settle;
    const { upstreamId } = upstream;
    yield { type: "settle", upstreamId, by, round: current.conflicts };
  }
  for (const { toolCallId, status, attempt, name, call, input } of tools.runs) {
    if (status !== "running" || call === null || input === null) continue;
    yield { type: "tool", toolCallId, attempt, name, providerCallId: call.id, input };
  }
}

function isSeeding(upstream: Upstream | null): boolean {
  return upstream !== null && upstream.isSeeded && !upstream.isHeard;
}

/** A lost call that is only asked about needs no rest yet: the answer may be to begin anew. */
function isNextCallWanted(stage: Stage, agent: BoundAgent | null): boolean {
  if (stage.type === "ready") return true;
  if (stage.type !== "lost") return false;
  const decided = stage.approvalId === undefined ? agent?.facts.onLost : stage.decision;
  return decided === "continue";
}

function nextDeadline({ approvals, clients }: SessionState): number | null {
  const deadlines = [...approvals.pending, ...clients.requests].map(({ deadline }) => deadline);
  return deadlines.length === 0 ? null : Math.min(...deadlines);
}
