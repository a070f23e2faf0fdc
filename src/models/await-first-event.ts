import type { Failure } from "../domain/errors.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";

/** An answer of which either something was said, or that failed before. */
export interface StartedResponse {
  readonly events: AsyncGenerator<ProviderEvent>;
  readonly failure?: Failure;
}

/** Reads on until something is said. What came before that is still among the events. */
export async function awaitFirstEvent(
  events: AsyncGenerator<ProviderEvent>,
): Promise<StartedResponse> {
  const bufferedEvents: ProviderEvent[] = [];
  for (;;) {
    const { done, value } = await events.next();
    if (done === true) return { events: concatEvents(bufferedEvents, events) };
    bufferedEvents.push(value);
    if (value.type === "end") {
      const { failure } = value;
      // Nothing follows it, and its connection is not kept for a reader who may never come.
      await events.return(undefined);
      return {
        events: concatEvents(bufferedEvents, events),
        ...(failure !== undefined && { failure }),
      };
    }
    if (!CONTENTLESS_EVENTS.has(value.type))
      return { events: concatEvents(bufferedEvents, events) };
  }
}

/** Of these nobody can tell what the model would have said. */
const CONTENTLESS_EVENTS: ReadonlySet<ProviderEvent["type"]> = new Set([
  "message.start",
  "message.end",
  "usage",
  "diagnostic",
  "unknown",
] as const);

async function* concatEvents(
  bufferedEvents: readonly ProviderEvent[],
  rest: AsyncGenerator<ProviderEvent>,
): AsyncGenerator<ProviderEvent> {
  try {
    yield* bufferedEvents;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
