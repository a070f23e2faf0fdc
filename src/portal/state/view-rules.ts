import type { Envelope } from "../../domain/events/envelope.ts";
import type { SessionEvent, EventOf } from "../../domain/events/session-event.ts";
import type { silent } from "../../domain/event-rules.ts";
import type { ViewDraft } from "./view-draft.ts";

/** Applies an event to the view. */
export type ViewRule<Event extends SessionEvent> = (
  draft: ViewDraft,
  event: Event,
  envelope: Envelope,
) => void;

/** A rule, or the reason for no change, per event type. Each slice of events has its own table. */
export type ViewRules<Event extends SessionEvent = SessionEvent> = {
  readonly [Type in Event["type"]]: ViewRule<EventOf<Type>> | ReturnType<typeof silent>;
};
