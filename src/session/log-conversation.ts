import type { Store } from "../store/store.ts";
import { evolveConversation, initialConversation, type Conversation } from "./conversation.ts";

/** The conversation as it was before a call of the provider, which is known by its id. */
export type LogConversation = (callId: string) => Promise<Conversation>;

/** Folds a session's log as far as it is needed, and goes on from there the next time: a log only grows. */
export function logConversation(store: Pick<Store, "page">, sessionId: string): LogConversation {
  let known = { conversation: initialConversation, seq: 0 };
  return async (callId) => {
    let { conversation, seq } = known;
    for (;;) {
      const events = await store.page(sessionId, seq);
      const start = events.findIndex(
        ({ event }) => event.type === "call.started" && event.callId === callId,
      );
      for (const envelope of start < 0 ? events : events.slice(0, start)) {
        conversation = evolveConversation(conversation, envelope);
        seq = envelope.seq;
      }
      if (start < 0 && events.length > 0) continue;
      known = { conversation, seq };
      return conversation;
    }
  };
}
