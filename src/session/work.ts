import type { Actor } from "../domain/actor.ts";
import type { AgentEvent, AgentFacts } from "../domain/agent-event.ts";
import type { Draft } from "../domain/envelope.ts";
import { SpanlineError } from "../domain/errors.ts";
import { idsFrom, type IdSource } from "../domain/id.ts";
import { evolve } from "./evolve.ts";
import type { Input } from "./input.ts";
import type { SessionState } from "./state.ts";

/** One decision in the making: what was decided so far, and the state that it leads to. */
export interface Work {
  readonly at: number;
  readonly ids: IdSource;
  readonly drafts: readonly Draft[];
  state: SessionState;
  /** `by` is the actor of the event, or null for none. Default: the sender of the command that is decided. */
  emit(event: AgentEvent, by?: Actor | null): void;
}

export function startWork(state: SessionState, input: Input): Work {
  const drafts: Draft[] = [];
  const sender: Actor | null = input.type === "commanded" ? input.by : null;
  const cause = input.type === "commanded" ? input.commandId : undefined;
  return {
    at: input.at,
    ids: idsFrom(input.at, input.seed),
    drafts,
    state,
    emit(event, by = sender) {
      const before = this.state.turn.current?.turnId;
      const turnId = before ?? (event.type === "turn.started" ? event.turnId : undefined);
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
export function agentOf({ state }: Work): AgentFacts {
  if (state.agent === null) {
    throw new SpanlineError("not_found", "The session was never opened; open it first");
  }
  return state.agent.facts;
}
