import type { Actor } from "../domain/actor.ts";
import type { AgentSpec } from "../domain/agent-spec.ts";
import type { SessionEvent } from "../domain/events/session-event.ts";
import type { Draft } from "../domain/events/envelope.ts";
import { SpanlineError } from "../domain/errors.ts";
import { createIdSource, type IdSource } from "../domain/id.ts";
import { evolve } from "./evolve.ts";
import type { TimedInput } from "./session-input.ts";
import type { SessionState } from "./session-state.ts";

/** One decision in the making: what was decided so far, and the state that it leads to. */
export interface Decision {
  readonly at: number;
  readonly ids: IdSource;
  readonly drafts: readonly Draft[];
  state: SessionState;
  /** `by` is the actor of the event, or null for none. Default: the sender of the command that is decided. */
  emit(event: SessionEvent, by?: Actor | null): void;
}

export function startDecision(state: SessionState, input: TimedInput): Decision {
  const drafts: Draft[] = [];
  const sender: Actor | null = input.type === "command-received" ? input.actor : null;
  const cause = input.type === "command-received" ? input.commandId : undefined;
  return {
    at: input.at,
    ids: createIdSource(input.at, input.seed),
    drafts,
    state,
    emit(event, by = sender) {
      const currentTurnId = this.state.turn.current?.turnId;
      const turnId = currentTurnId ?? (event.type === "turn.started" ? event.turnId : undefined);
      const draft: Draft = {
        at: input.at,
        ...(turnId !== undefined && { turnId }),
        ...(by !== null && { actor: by }),
        ...(cause !== undefined && { cause }),
        visibility: "public",
        event,
      };
      drafts.push(draft);
      this.state = evolve(this.state, draft);
    },
  };
}

/** Of an open session: one without an agent takes no other input than its opening. */
export function readAgentSpec({ state }: Decision): AgentSpec {
  if (state.agent === null) {
    throw new SpanlineError("not_found", "The session was never opened; open it first");
  }
  return state.agent.spec;
}
