import type { ModelMessage } from "../../domain/model/model-request.ts";
import type { SessionMode } from "../../domain/session-mode.ts";
import type { Store } from "../../store/store.ts";
import { evolveConversation, initialConversation } from "./history/conversation.ts";
import { loadMessageImages } from "./history/load-images.ts";

/** What a copy of a session begins with. */
export interface CopiedSession {
  /** What both sides have said, up to the last answer that waits for nothing. */
  readonly history: readonly ModelMessage[];
  readonly mode: SessionMode;
}

export async function copySession(
  store: Pick<Store, "readPage" | "readBlob">,
  sessionId: string,
): Promise<CopiedSession> {
  let conversation = initialConversation;
  let mode: SessionMode = "default";
  for (let seq = 0, hasMore = true; hasMore;) {
    const events = await store.readPage(sessionId, seq);
    for (const envelope of events) {
      conversation = evolveConversation(conversation, envelope);
      if (envelope.event.type === "session.mode_changed") ({ mode } = envelope.event);
    }
    seq = events.at(-1)?.seq ?? seq;
    hasMore = events.length > 0;
  }
  const { messages, lastResponseStart, openToolCallIds } = conversation;
  const completedMessages =
    openToolCallIds.length > 0 ? messages.slice(0, lastResponseStart) : messages;
  const history = await loadMessageImages(completedMessages, (blobId) =>
    store.readBlob(sessionId, blobId),
  );
  return { history, mode };
}
