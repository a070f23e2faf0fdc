import type { ModelMessage } from "../../../domain/model/model-request.ts";
import type { BlobStore } from "../../../store/blob-store.ts";
import type { LogStore } from "../../../store/log-store.ts";
import { evolveConversation, initialConversation } from "./conversation.ts";
import { loadMessageImages } from "./load-images.ts";

/** The messages of a session as they were after the event `through`, with the bytes of their images. */
export async function readSessionHistory(
  store: Pick<LogStore, "readPage"> & Pick<BlobStore, "readBlob">,
  sessionId: string,
  through: number,
): Promise<readonly ModelMessage[]> {
  let conversation = initialConversation;
  for (let seq = 0; seq < through;) {
    const events = await store.readPage(sessionId, seq);
    for (const envelope of events) {
      if (envelope.seq <= through) conversation = evolveConversation(conversation, envelope);
    }
    seq = events.at(-1)?.seq ?? through;
  }
  return loadMessageImages(conversation.messages, (blobId) => store.readBlob(sessionId, blobId));
}
