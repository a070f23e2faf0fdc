import type { SessionEvent } from "../../../domain/events/session-event.ts";
import { deriveTitle } from "../../../domain/derive-title.ts";
import type { Draft } from "../../../domain/events/envelope.ts";
import type { SessionFields } from "../../../store/session-index.ts";
import type { SessionState } from "../../session-state.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** What the list of sessions shows after these events. */
export function collectSessionFields(
  events: readonly Draft[],
  { turn, approvals, tools }: SessionState,
  isTitled = true,
): SessionFields {
  // Programs of a turn that was cancelled may still run: whoever comes next has to end them.
  const isIdle = turn.current === null && tools.processes.length === 0;
  const isWaiting = approvals.pending.length > 0 || (turn.current?.pause ?? null) !== null;
  const state = isIdle ? "idle" : isWaiting ? "waiting" : "running";
  const fields = events.map(({ event }) => readEventFields(event));
  return Object.assign({ state }, isTitled ? {} : deriveFirstTitle(events), ...fields);
}

/** What was said first, which a title that somebody gives replaces. */
function deriveFirstTitle(events: readonly Draft[]): SessionFields {
  for (const { event } of events) {
    const title = event.type === "prompt.accepted" ? deriveTitle(event.content) : undefined;
    if (title !== undefined) return { title };
  }
  return {};
}

function readEventFields(event: SessionEvent): SessionFields {
  if (event.type === "session.title_changed") return { title: event.title };
  if (event.type === "session.folders_changed") return { folders: event.folders };
  if (event.type !== "session.opened") return {};
  const { agent, principal, title, workingDirectory, label } = event;
  return {
    agent,
    principal,
    ...omitUndefined({ title, workingDirectory, label }),
  };
}
