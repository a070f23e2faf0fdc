import type { Failure } from "../../domain/errors.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";

/**
 * Ends a turn whose connection was lost. A turn with a known end keeps its outcome, so its message and its open tool
 * calls are not lost. Otherwise the turn fails and its tool calls are dropped, because the list may be incomplete.
 */
export function endBrokenTurn(events: readonly ProviderEvent[], failure: Failure): ProviderEvent[] {
  return events.flatMap((event): ProviderEvent[] => {
    if (event.type !== "end") return [event];
    if (event.outcome === "failed") return [{ ...event, openToolCallIds: [], failure }];
    const diagnostic = { code: "cut_after_end", message: failure.message } as const;
    return [{ type: "diagnostic", diagnostic }, event];
  });
}
