import type { Entry } from "./entries.ts";
import type { ItemStatus } from "./response-item.ts";
import { isFinishedReason, type ResponseStatus } from "../response-status.ts";

interface EntryContext {
  readonly response: ResponseStatus["status"];
  readonly isLast: boolean;
  /** Why the entry's message stopped. */
  readonly reason: string | null;
}

/** Whether the whole of an entry was said, given how its message and the turn ended. */
export function resolveEntryStatus(entry: Entry, facts: EntryContext): ItemStatus {
  const { response, isLast, reason } = facts;
  const blocks = entry.kind === "passage" ? entry.blocks : [entry];
  if (entry.kind === "tool-call" && entry.toolCall.input === null) return "incomplete";
  if (blocks.some((block) => block.ending === "open")) return "incomplete";
  if (response === "completed") return "completed";
  if (!isFinishedReason(reason) && blocks.some((block) => block.ending === "implicit"))
    return "incomplete";
  // Only the last item can have been cut by what ended the turn, and a result is not the model's to cut.
  if (!isLast || entry.kind === "tool-result") return "completed";
  // A closed block is whole unless its message was stopped for it; a reply is whole only with the rest of its message.
  if (entry.kind !== "passage") return reason === null ? "completed" : statusFromReason(reason);
  return entry.role === "assistant" && response === "incomplete"
    ? "incomplete"
    : statusFromReason(reason);
}

function statusFromReason(reason: string | null): ItemStatus {
  return isFinishedReason(reason) ? "completed" : "incomplete";
}
