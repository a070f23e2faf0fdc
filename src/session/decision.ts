import type { Actor } from "../domain/actor.ts";
import type { AgentSpec } from "../domain/agent-spec.ts";
import type { SessionEvent } from "../domain/events/session-event.ts";
import type { Draft } from "../domain/events/envelope.ts";
import { SpanlineError } from "../domain/errors.ts";
import { createIdSource, type IdSource } from "../domain/id.ts";
import { evolve } from "./evolve.ts";
import type { ChangedFile, TimedInput } from "./session-input.ts";
import type { SessionState } from "./session-state.ts";

/** A decision in progress: the events so far, and the state after them. */
export interface Decision {
  readonly at: number;
  readonly ids: IdSource;
  readonly drafts: readonly Draft[];
  /** Files which changed on the disk since the agent read or wrote them. */
  readonly changedFiles: readonly ChangedFile[];
  state: SessionState;
  /**
   * Appends an event and applies it to `state`. `by` is the actor of the event, or null for none. Default: the sender
   * of the command.
   */
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
    changedFiles: input.changedFiles ?? [],
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

/** Returns the agent's definition. Throws `not_found` if the session was never opened. */
export function readAgentSpec({ state }: Decision): AgentSpec {
  if (state.agent === null) {
    throw new SpanlineError("not_found", "The session was never opened; open it first");
  }
  return state.agent.spec;
}
