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
  let fields: SessionFields = { state };
  for (const { event } of events) {
    if (event.type === "session.opened") {
      const { agent, principal, title, workingDirectory } = event;
      fields = {
        ...fields,
        agent,
        principal,
        ...(title !== undefined && { title }),
        ...(workingDirectory !== undefined && { workingDirectory }),
      };
    }
    if (event.type === "session.titled") fields = { ...fields, title: event.title };
  }
  return fields;
}
