import type { ModelMessage } from "../../domain/model/model-request.ts";
import { packConversation, type PackedConversation } from "./request/compaction.ts";
import type { CreateRequest } from "./request/create-request.ts";
import { toHistory } from "./request/to-history.ts";
import { readInstructions } from "./request/new-input.ts";
import { NO_USAGE } from "./response-usage.ts";
import { computeShortDigest } from "../../data/short-digest.ts";

/** Joins the earlier messages of a session and the input of a request into one conversation for compaction. */
export function toPackedConversation(
  request: Pick<CreateRequest, "instructions" | "input">,
  earlier: readonly ModelMessage[] = [],
): PackedConversation {
  const messages = toHistory(request.input, earlier);
  return { instructions: readInstructions(request), messages };
}

/** Encodes a conversation as one item, which a later request can start with. No message is omitted. */
export function encodeCompaction(conversation: PackedConversation, at: number) {
  const encrypted_content = packConversation(conversation);
  const digest = computeShortDigest(encrypted_content);
  return {
    id: `resp_compact_${digest}`,
    object: "response.compaction",
    created_at: Math.floor(at / 1000),
    output: [{ id: `cmp_${digest}`, type: "compaction", encrypted_content }],
    usage: NO_USAGE,
  } as const;
}
