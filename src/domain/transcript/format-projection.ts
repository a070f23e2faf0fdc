import { pluralize } from "../../text/pluralize.ts";
import type { ProjectionReceipt } from "./projection.ts";

/** Formats a projection as a line for people. */
export function formatProjection({
  policy,
  droppedCount,
  redactedCount,
  providerSafetyBlocked,
}: ProjectionReceipt): string {
  const parts = [
    ...(droppedCount > 0 ? [`${pluralize(droppedCount, "block")} left out (${policy})`] : []),
    ...(redactedCount > 0 ? [`${pluralize(redactedCount, "secret")} replaced`] : []),
    ...(providerSafetyBlocked ? ["messages with signed reasoning sent unchanged"] : []),
  ];
  return `Request to the model: ${parts.length === 0 ? "complete" : parts.join(", ")}`;
}
