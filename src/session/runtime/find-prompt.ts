import type {
  SessionEvent,
  PromptAccepted,
  ToolResultsSubmitted,
} from "../../domain/events/session-event.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { Store } from "../../store/store.ts";

/** What began under an id: a prompt, or results that were given. Looked up in the log, which may be long; it is asked rarely. */
export async function findPrompt(
  store: Pick<Store, "readPage">,
  sessionId: string,
  promptId: string,
): Promise<Envelope | undefined> {
  let after = 0;
  for (;;) {
    const events = await store.readPage(sessionId, after);
    const found = events.find(({ event }) => isSubmission(event) && event.promptId === promptId);
    const last = events.at(-1);
    if (found !== undefined || last === undefined) return found;
    after = last.seq;
  }
}

function isSubmission(event: SessionEvent): event is PromptAccepted | ToolResultsSubmitted {
  return event.type === "prompt.accepted" || event.type === "tool_results.submitted";
}
