import { isObject, parseJson } from "../../../data/json.ts";
import { digestText } from "../../../platform/digest.ts";
import type { ConversationMessage } from "./conversation.ts";

/**
 * The messages of some finished turns, folded from the events after `fromSeq` up to `seq`. A cache of the log, stored
 * as a chain of blobs: each starts where another ends.
 */
export interface FoldedHistory {
  readonly fromSeq: number;
  readonly seq: number;
  /** The messages replace those of all earlier parts, because a compaction archived some of them. */
  readonly replaces?: true;
  readonly messages: readonly ConversationMessage[];
  /** The last message, to which later imported history may be joined. The next part contains it among its messages. */
  readonly last: readonly ConversationMessage[];
  /** Number of messages of the whole session before the agent's last response. */
  readonly lastResponseStart: number;
}

/** Changed whenever the fold or its message format changes, so older parts are not read. */
const FORMAT_VERSION = "3";

export function createHistoryBlobId(fromSeq: number): string {
  return `folded-history/${FORMAT_VERSION}/${fromSeq}`;
}

export function encodeFoldedHistory(history: FoldedHistory): Uint8Array {
  const text = JSON.stringify(history);
  return new TextEncoder().encode(`${digestText(text)}\n${text}`);
}

/** Undefined if the bytes were changed. */
export function decodeFoldedHistory(bytes: Uint8Array): FoldedHistory | undefined {
  const [digest = "", text = ""] = new TextDecoder().decode(bytes).split("\n", 2);
  if (digestText(text) !== digest) return undefined;
  const parsed = parseJson(text);
  return parsed.ok && isFoldedHistory(parsed.value) ? parsed.value : undefined;
}

/** The version in the blob id covers format changes; the digest covers any other change. */
function isFoldedHistory(value: unknown): value is FoldedHistory {
  return isObject(value) && Array.isArray(value["messages"]) && Array.isArray(value["last"]);
}
