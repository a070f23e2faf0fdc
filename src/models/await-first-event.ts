import { type Failure, SpanlineError, type ErrorCode } from "../domain/errors.ts";
import type { ProviderEvent, ActivityEvent } from "../domain/provider/provider-event.ts";
import { isTransientFailure } from "../remote/retry-policy.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

/** A response with its first content event, or with a failure before any content. */
export interface StartedResponse {
  readonly events: AsyncGenerator<ProviderEvent>;
  readonly failure?: Failure;
}

/** Reads until the first content event. Earlier events are buffered and returned too. */
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
      // No events follow the end, so the connection is closed now: the caller may never read the rest.
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

/** Events without model output. A request that fails after only these events can be repeated. */
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
 * True if a failed request without any output is repeated. A model request has no side effects, so server errors are
 * retried as well as busy servers. A timeout is not retried: the server may only be slow.
 */
export function shouldRetry(error: unknown): boolean {
  if (!(error instanceof SpanlineError) || error.details["mayRetry"] === false) return false;
  if (error.code === "idle_timeout") return false;
  if (isTransientFailure(error) || EMPTY_RESPONSE_CODES.has(error.code)) return true;
  if (error.code !== "service_failed") return false;
  const { status } = error.details;
  // A failure inside the stream has no status.
  return typeof status !== "number" || status === 408 || (status >= 500 && status !== 501);
}

/** The response ended before any output. */
const EMPTY_RESPONSE_CODES: ReadonlySet<ErrorCode> = new Set([
  "truncated_stream",
  "incomplete_turn",
] as const);

/** Reports a retry and its reason to clients which wait for the response. */
export function createRetryActivity(error: unknown, milliseconds: number): ActivityEvent {
  const { code, message } =
    error instanceof SpanlineError ? error : { code: "service_failed", message: String(error) };
  const seconds = Math.round(milliseconds / 100) / 10;
  const label = `${message}. The next attempt is in ${seconds} s`;
  return { type: "activity", kind: "retry-wait", label, raw: { code, milliseconds } };
}
