import type { Failure } from "../domain/errors.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";

/** An answer of which either something was said, or that failed before. */
export interface BegunAnswer {
  readonly events: AsyncGenerator<ProviderEvent>;
  readonly failure?: Failure;
}

/** Reads on until something is said. What came before that is still among the events. */
export async function begunAnswer(events: AsyncGenerator<ProviderEvent>): Promise<BegunAnswer> {
  const held: ProviderEvent[] = [];
  for (;;) {
    const { done, value } = await events.next();
    if (done === true) return { events: joined(held, events) };
    held.push(value);
    if (value.type === "end") {
      const { failure } = value;
      // Nothing follows it, and its connection is not kept for a reader who may never come.
      await events.return(undefined);
      return { events: joined(held, events), ...(failure !== undefined && { failure }) };
    }
    if (!SAYS_NOTHING.has(value.type)) return { events: joined(held, events) };
  }
}

/** Of these nobody can tell what the model would have said. */
const SAYS_NOTHING: ReadonlySet<ProviderEvent["type"]> = new Set([
  "message.start",
  "message.end",
  "usage",
  "diagnostic",
  "unknown",
] as const);

async function* joined(
  held: readonly ProviderEvent[],
  rest: AsyncGenerator<ProviderEvent>,
): AsyncGenerator<ProviderEvent> {
  try {
    yield* held;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
