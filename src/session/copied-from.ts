import type { ModelMessage } from "../domain/model-request.ts";
import type { SessionMode } from "../domain/session-mode.ts";
import type { Store } from "../store/store.ts";
import { evolveConversation, initialConversation } from "./conversation.ts";
import { shownMessages } from "./shown-images.ts";

/** What a copy of a session begins with. */
export interface Copied {
  /** What both sides have said, up to the last answer that waits for nothing. */
  readonly history: readonly ModelMessage[];
  readonly mode: SessionMode;
}

export async function copiedFrom(
  store: Pick<Store, "page" | "blob">,
  sessionId: string,
): Promise<Copied> {
  let conversation = initialConversation;
  let mode: SessionMode = "default";
  for (let seq = 0, isMore = true; isMore;) {
    const events = await store.page(sessionId, seq);
    for (const envelope of events) {
      conversation = evolveConversation(conversation, envelope);
      if (envelope.event.type === "session.configured") ({ mode } = envelope.event);
    }
    seq = events.at(-1)?.seq ?? seq;
    isMore = events.length > 0;
  }
  const { messages, beforeAnswer, open } = conversation;
  const said = open.length > 0 ? messages.slice(0, beforeAnswer) : messages;
  const history = await shownMessages(said, (blobId) => store.blob(sessionId, blobId));
  return { history, mode };
}
