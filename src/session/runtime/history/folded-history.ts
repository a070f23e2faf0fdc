import { isObject, parseJson } from "../../../data/json.ts";
import { digestText } from "../../../platform/digest.ts";
import type { ConversationMessage } from "./conversation.ts";

/**
 * The messages of some finished turns of a session, folded from the events after `fromSeq` up to `seq`. A cache of the
 * log: stored as blobs, each of which begins where another one ends.
 */
export interface FoldedHistory {
  readonly fromSeq: number;
  readonly seq: number;
  readonly messages: readonly ConversationMessage[];
  /** The last message, to which history that is given later may be joined. The next part has it among its messages. */
  readonly last: readonly ConversationMessage[];
  /** How many messages of the session, those of earlier parts included, come before the agent's last answer. */
  readonly lastResponseStart: number;
}

/** Changed whenever the fold or the form of its messages changes, so that older parts are not read. */
const FORMAT_VERSION = "1";

export function createHistoryBlobId(fromSeq: number): string {
  return `folded-history/${FORMAT_VERSION}/${fromSeq}`;
}

export function encodeFoldedHistory(history: FoldedHistory): Uint8Array {
  const text = JSON.stringify(history);
  return new TextEncoder().encode(`${digestText(text)}\n${text}`);
}

/** Undefined if the bytes are not what was written. */
export function decodeFoldedHistory(bytes: Uint8Array): FoldedHistory | undefined {
  const [digest = "", text = ""] = new TextDecoder().decode(bytes).split("\n", 2);
  if (digestText(text) !== digest) return undefined;
  const parsed = parseJson(text);
  return parsed.ok && isFoldedHistory(parsed.value) ? parsed.value : undefined;
}

/** The form's name changes whenever the form does; the digest proves that nothing else changed. */
function isFoldedHistory(value: unknown): value is FoldedHistory {
  return isObject(value) && Array.isArray(value["messages"]) && Array.isArray(value["last"]);
}
