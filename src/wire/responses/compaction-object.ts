import type { ModelMessage } from "../../domain/model-request.ts";
import { packConversation, type PackedConversation } from "./request/compaction.ts";
import type { CreateRequest } from "./request/create-request.ts";
import { historyOf } from "./request/history.ts";
import { instructionsOf } from "./request/new-input.ts";
import { NO_USAGE } from "./response-usage.ts";
import { shortDigest } from "./short-digest.ts";

/** The earlier messages of a session and the input of a request as one conversation, to be packed. */
export function conversationIn(
  request: Pick<CreateRequest, "instructions" | "input">,
  earlier: readonly ModelMessage[] = [],
): PackedConversation {
  const messages = historyOf(request.input, earlier);
  return { instructions: instructionsOf(request), messages };
}

/** A conversation packed into one item, which a later request can begin with. Nothing is left out of it. */
export function compactionObject(conversation: PackedConversation, at: number) {
  const encrypted_content = packConversation(conversation);
  const digest = shortDigest(encrypted_content);
  return {
    id: `resp_compact_${digest}`,
    object: "response.compaction",
    created_at: Math.floor(at / 1000),
    output: [{ id: `cmp_${digest}`, type: "compaction", encrypted_content }],
    usage: NO_USAGE,
  } as const;
}
