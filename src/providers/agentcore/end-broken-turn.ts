import type { Failure } from "../../domain/errors.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";

/**
 * Ends a turn whose connection broke. One that had said how it ends stays what it is, so that its answer is not thrown
 * away, nor the calls that wait for us. Of any other, the calls that it wanted may not be all that it meant.
 */
export function endBrokenTurn(events: readonly ProviderEvent[], failure: Failure): ProviderEvent[] {
  return events.flatMap((event): ProviderEvent[] => {
    if (event.type !== "end") return [event];
    if (event.outcome === "failed") return [{ ...event, openToolCallIds: [], failure }];
    const diagnostic = { code: "cut_after_end", message: failure.message } as const;
    return [{ type: "diagnostic", diagnostic }, event];
  });
}
