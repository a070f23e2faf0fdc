import type { JsonObject, JsonValue } from "../../../data/json.ts";
import { formatQuantity } from "../../../domain/budget.ts";
import { pluralize } from "../../../text/pluralize.ts";

/** Formats an update about the transcript as a line. Undefined for any other update, and for one with invalid fields. */
export function formatTranscriptNote(name: string, fields: JsonObject): string | undefined {
  switch (name) {
    case "transcript_compacted":
      return formatCompacted(fields);
    case "transcript_projected":
      return formatProjected(fields);
    default:
      return undefined;
  }
}

function formatCompacted({
  archivedMessages,
  estimatedTokensBefore: before,
  estimatedTokensAfter: after,
}: JsonObject): string | undefined {
  if (typeof archivedMessages !== "number") return undefined;
  const archived = pluralize(archivedMessages, "message");
  return `Compacted ${archived}: ${formatTokens(before)} before, ${formatTokens(after)} after`;
}

function formatTokens(tokens: JsonValue | undefined): string {
  return typeof tokens === "number"
    ? formatQuantity("tokens", tokens)
    : "an unknown number of tokens";
}

function formatProjected({
  droppedCount: dropped,
  redactedCount: redacted,
}: JsonObject): string | undefined {
  if (typeof dropped !== "number" || typeof redacted !== "number") return undefined;
  const parts = [
    ...(dropped > 0 ? [`${pluralize(dropped, "block")} left out`] : []),
    ...(redacted > 0 ? [`${pluralize(redacted, "secret")} replaced`] : []),
  ];
  return parts.length === 0 ? undefined : `Request to the model: ${parts.join(", ")}`;
}
