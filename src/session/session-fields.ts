import type { AgentEvent } from "../domain/agent-event.ts";
import { titleOf } from "../domain/title-of.ts";
import type { Draft } from "../domain/envelope.ts";
import type { SessionFields } from "../store/store.ts";
import type { SessionState } from "./state.ts";

/** What the list of sessions shows after these events. */
export function sessionFields(
  events: readonly Draft[],
  { turn, approvals, tools }: SessionState,
  isTitled = true,
): SessionFields {
  // Programs of a turn that was cancelled may still run: whoever comes next has to end them.
  const isIdle = turn.current === null && tools.programs.length === 0;
  const isWaiting = approvals.pending.length > 0 || (turn.current?.pause ?? null) !== null;
  const state = isIdle ? "idle" : isWaiting ? "waiting" : "running";
  const fields = events.map(({ event }) => fieldsOf(event));
  return Object.assign({ state }, isTitled ? {} : firstTitle(events), ...fields);
}

/** What was said first, which a title that somebody gives replaces. */
function firstTitle(events: readonly Draft[]): SessionFields {
  for (const { event } of events) {
    const title = event.type === "prompt.accepted" ? titleOf(event.content) : undefined;
    if (title !== undefined) return { title };
  }
  return {};
}

function fieldsOf(event: AgentEvent): SessionFields {
  if (event.type === "session.titled") return { title: event.title };
  if (event.type === "session.extended") return { folders: event.folders };
  if (event.type !== "session.opened") return {};
  const { agent, principal, title, workingDirectory, label } = event;
  return {
    agent,
    principal,
    ...(title !== undefined && { title }),
    ...(workingDirectory !== undefined && { workingDirectory }),
    ...(label !== undefined && { label }),
  };
}
