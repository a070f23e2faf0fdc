import type { Failure } from "../domain/errors.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";

/** A message that was whole before the connection broke is whole. One that was cut was cut by that. */
export function brokenAnswer(events: readonly ProviderEvent[], failure: Failure): ProviderEvent[] {
  return events.map((event) => {
    const isCut =
      event.type === "end" && event.failure !== undefined && CUT.has(event.failure.code);
    return isCut ? { ...event, failure } : event;
  });
}

const CUT: ReadonlySet<Failure["code"]> = new Set(["incomplete_turn", "truncated_stream"]);
