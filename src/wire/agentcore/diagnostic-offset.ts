import type { ProviderEvent } from "../../domain/provider/provider-event.ts";

/** Says where in the stream a diagnostic was found. */
export function addDiagnosticOffset(event: ProviderEvent, offset: number): ProviderEvent {
  if (event.type !== "diagnostic" || event.diagnostic.offset !== undefined) return event;
  return { type: "diagnostic", diagnostic: { ...event.diagnostic, offset } };
}
