import type { ModelMessage } from "../domain/model-request.ts";
import type { Store } from "../store/store.ts";
import { evolveConversation, initialConversation } from "./conversation.ts";
import { shownMessages } from "./shown-images.ts";

/** What both sides have said in a session, up to its last answer that waits for nothing. */
export async function saidIn(
  store: Pick<Store, "read" | "blob">,
  sessionId: string,
): Promise<readonly ModelMessage[]> {
  let conversation = initialConversation;
  for (let seq = 0, isMore = true; isMore;) {
    const events = await store.read(sessionId, seq, PAGE);
    for (const envelope of events) conversation = evolveConversation(conversation, envelope);
    seq = events.at(-1)?.seq ?? seq;
    isMore = events.length > 0;
  }
  const { messages, beforeAnswer, open } = conversation;
  const said = open.length > 0 ? messages.slice(0, beforeAnswer) : messages;
  return shownMessages(said, (blobId) => store.blob(sessionId, blobId));
}

const PAGE = 1000;
