import type { Entry } from "./entries.ts";
import type { ItemStatus } from "./response-item.ts";
import { isFinishedReason, type ResponseStatus } from "../response-status.ts";

interface EntryContext {
  readonly response: ResponseStatus["status"];
  readonly isLast: boolean;
  /** The stop reason of the entry's message. */
  readonly reason: string | null;
}

/** Returns whether an entry is complete, given the ends of its message and of the turn. */
export function resolveEntryStatus(entry: Entry, facts: EntryContext): ItemStatus {
  const { response, isLast, reason } = facts;
  const blocks = entry.kind === "passage" ? entry.blocks : [entry];
  if (entry.kind === "tool-call" && entry.toolCall.input === null) return "incomplete";
  if (blocks.some((block) => block.ending === "open")) return "incomplete";
  if (response === "completed") return "completed";
  if (!isFinishedReason(reason) && blocks.some((block) => block.ending === "implicit"))
    return "incomplete";
  // Only the last item can be truncated by the end of the turn, and a tool result is never truncated by the model.
  if (!isLast || entry.kind === "tool-result") return "completed";
  // A closed block is complete unless its message stopped inside the block. A reply is complete only with its whole
  // message.
  if (entry.kind !== "passage") return reason === null ? "completed" : statusFromReason(reason);
  return entry.role === "assistant" && response === "incomplete"
    ? "incomplete"
    : statusFromReason(reason);
}

function statusFromReason(reason: string | null): ItemStatus {
  return isFinishedReason(reason) ? "completed" : "incomplete";
}
