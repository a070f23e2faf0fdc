import { type Failure, SpanlineError, type ErrorCode } from "../domain/errors.ts";
import type { ProviderEvent, ActivityEvent } from "../domain/provider/provider-event.ts";
import { isTransientFailure } from "../remote/retry-policy.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

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
        ...omitUndefined({ failure }),
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

/**
 * Whether a failed call is made again, of whose answer nothing was seen. Asking a model changes nothing, so that a server
 * that failed is asked again as well as one that was busy. One that only fell silent is not: it may be slow.
 */
export function shouldRetry(error: unknown): boolean {
  if (!(error instanceof SpanlineError) || error.details["mayRetry"] === false) return false;
  if (error.code === "idle_timeout") return false;
  if (isTransientFailure(error) || EMPTY_RESPONSE_CODES.has(error.code)) return true;
  if (error.code !== "service_failed") return false;
  const { status } = error.details;
  // A failure inside the stream has no status of its own.
  return typeof status !== "number" || status === 408 || (status >= 500 && status !== 501);
}

/** The answer stopped before it began. */
const EMPTY_RESPONSE_CODES: ReadonlySet<ErrorCode> = new Set([
  "truncated_stream",
  "incomplete_turn",
] as const);

/** Tells whoever waits for the answer that it will take longer, and why. */
export function createRetryActivity(error: unknown, milliseconds: number): ActivityEvent {
  const { code, message } =
    error instanceof SpanlineError ? error : { code: "service_failed", message: String(error) };
  const seconds = Math.round(milliseconds / 100) / 10;
  const label = `${message}. The next attempt is in ${seconds} s`;
  return { type: "activity", kind: "retry-wait", label, raw: { code, milliseconds } };
}
