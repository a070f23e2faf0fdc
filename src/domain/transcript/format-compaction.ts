import { formatQuantity } from "../budget.ts";
import { pluralize } from "../../text/pluralize.ts";
import type { CompactionEnded, CompactionEndReason } from "../events/transcript-events.ts";
import type { CompactionReceipt, TokenMeasurement } from "./compaction.ts";

/** Formats a compaction as a line for people. */
export function formatCompaction({
  archivedMessages,
  recap,
  before,
  after,
  failure,
}: Pick<CompactionReceipt, "archivedMessages" | "recap" | "before" | "after" | "failure">): string {
  const archived = pluralize(archivedMessages, "message");
  const change =
    recap === null
      ? `${archived} ${archivedMessages === 1 ? "is" : "are"} no longer sent to the model`
      : `A summary replaces ${archived}`;
  const note = failure === undefined ? "" : `. The summary failed: ${failure.message}`;
  return `${change}: ${formatTokens(before)} before, ${formatTokens(after)} after${note}`;
}

function formatTokens({ source, tokens }: TokenMeasurement): string {
  if (tokens === null) return "an unknown number of tokens";
  const amount = formatQuantity("tokens", tokens);
  return source === "estimate" ? `about ${amount}` : amount;
}

/** Formats a compaction without effect as a line for people. */
export function formatCompactionEnd({ reason, failure }: CompactionEnded): string {
  return failure === undefined ? END_TEXTS[reason] : `${END_TEXTS[reason]}: ${failure.message}`;
}

const END_TEXTS: { readonly [Reason in CompactionEndReason]: string } = {
  nothing_to_archive:
    "The conversation was not compacted, because no earlier message can be removed",
  below_threshold:
    "The conversation was not compacted, because its exact size is below the threshold",
  summary_failed: "The conversation was not compacted, because the summary failed",
  too_many_attempts:
    "The conversation was not compacted, because the bridge stopped during each attempt",
  timeout: "The conversation was not compacted in time",
  cancelled: "The compaction was cancelled",
};
