import type { AgentEvent } from "../domain/agent-event.ts";
import type { Draft } from "../domain/envelope.ts";
import type { SessionFields } from "../store/store.ts";
import type { SessionState } from "./state.ts";

/** What the list of sessions shows after these events. */
export function sessionFields(
  events: readonly Draft[],
  { turn, approvals }: SessionState,
): SessionFields {
  const state =
    turn.current === null ? "idle" : approvals.pending.length > 0 ? "waiting" : "running";
  return Object.assign({ state }, ...events.map(({ event }) => fieldsOf(event)));
}

function fieldsOf(event: AgentEvent): SessionFields {
  if (event.type === "session.titled") return { title: event.title };
  if (event.type !== "session.opened") return {};
  const { agent, principal, title, workingDirectory } = event;
  return {
    agent,
    principal,
    ...(title !== undefined && { title }),
    ...(workingDirectory !== undefined && { workingDirectory }),
  };
}
