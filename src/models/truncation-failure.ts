import type { Failure } from "../domain/errors.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";

/** A message that was whole before the connection broke is whole. One that was cut was cut by that. */
export function replaceTruncationFailure(
  events: readonly ProviderEvent[],
  failure: Failure,
): ProviderEvent[] {
  return events.map((event) => {
    const isTruncated =
      event.type === "end" &&
      event.failure !== undefined &&
      TRUNCATION_CODES.has(event.failure.code);
    return isTruncated ? { ...event, failure } : event;
  });
}

const TRUNCATION_CODES: ReadonlySet<Failure["code"]> = new Set([
  "incomplete_turn",
  "truncated_stream",
]);
