import { flattenAsync } from "../../async/flatten-async.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { Cursor } from "../../domain/events/envelope.ts";
import { createEventStream } from "../../http/routing/event-stream.ts";
import { createInvalidRequestError } from "../../http/routing/json-body.ts";
import { readHeader } from "../../http/routing/read-header.ts";
import type { Route } from "../../http/routing/router.ts";
import type { ServedRequest } from "../../http/server/http-types.ts";
import { authenticate } from "./portal-access.ts";
import { parseCursor, formatCursor } from "../../wire/live/cursor-text.ts";
import { createFailureBody } from "./error-body.ts";
import { EventFrames } from "./event-frames.ts";
import type { EventRun } from "../../wire/live/encode-live-frame.ts";
import { createStreamOptions, type PortalOptions } from "./portal-options.ts";
import { findLogGap, formatLogGap, type LogGap } from "./log-gap.ts";
import { findSession, type SessionRecord } from "./session-resource.ts";

/** Streams a session's log as server-sent events, from a cursor or from the beginning, and then live. */
export function createEventRoutes(options: PortalOptions): Route[] {
  const { sessions } = options;
  const frames = new EventFrames();
  return [
    {
      method: "GET",
      path: "/api/sessions/:id/events",
      async handle(request, { id = "" }) {
        const principal = await authenticate(request, options);
        const cursor = readCursor(request);
        const record = await findSession(sessions, id, principal);
        const { disconnectSignal } = request;
        const subscribe = (start: Cursor | undefined): AsyncIterator<EventRun> =>
          sessions.subscribe(id, start, disconnectSignal)[Symbol.asyncIterator]();
        const batches = subscribe(cursor);
        const ready = isAtEnd(cursor, record) ? batches : await fetchFirst(batches);
        const { incarnation } = record;
        const reader = { frames, disconnectSignal, subscribe, incarnation };
        return createEventStream(encodeEventRuns(ready, reader), createStreamOptions(options));
      },
    },
  ];
}

/**
 * A reconnecting browser sends the original address with the old cursor, so the `last-event-id` header has priority.
 */
function readCursor(request: ServedRequest): Cursor | undefined {
  const requestedCursor = new URLSearchParams(request.query).get("cursor") ?? "";
  const text = readHeader(request, "last-event-id") || requestedCursor;
  if (text === "") return undefined;
  const cursor = parseCursor(text);
  if (cursor === undefined)
    throw createInvalidRequestError(`The cursor "${text}" is not a valid event id`);
  return cursor;
}

/** Whether the cursor is at the end of the log: the stream has to start without waiting for an event. */
function isAtEnd(cursor: Cursor | undefined, { incarnation, seq }: SessionRecord): boolean {
  return cursor === undefined
    ? seq === 0
    : cursor.incarnation === incarnation && cursor.seq === seq;
}

/**
 * Waits for the first batch, or for the error of an invalid cursor. Only before the stream starts can the error be sent
 * as an HTTP status, which stops the browser from reconnecting.
 */
async function fetchFirst<Item>(source: AsyncIterator<Item>): Promise<AsyncIterator<Item>> {
  let first: Promise<IteratorResult<Item>> | undefined = source.next();
  // A gap does not prevent the stream: the stream reports the gap and continues behind it.
  await first.catch((error: unknown) => {
    if (findLogGap(error) === undefined) throw error;
  });
  return {
    next() {
      if (first === undefined) return source.next();
      const batch = first;
      // Released, because a reader which never continues would keep the batch in memory.
      first = undefined;
      return batch;
    },
    return: async () => (await source.return?.()) ?? { done: true, value: undefined },
  };
}

interface EventReader {
  readonly frames: EventFrames;
  readonly disconnectSignal: AbortSignal;
  readonly subscribe: (cursor: Cursor) => AsyncIterator<EventRun>;
  readonly incarnation: string;
}

function encodeEventRuns(
  batches: AsyncIterator<EventRun>,
  { frames, disconnectSignal: gone, subscribe, incarnation }: EventReader,
): AsyncIterable<Uint8Array | string> {
  return flattenAsync<EventRun, Uint8Array | string>(batches, {
    // Milliseconds until the browser reconnects.
    initial: ["retry: 1000\n\n"],
    expand: (run) => frames.pieces(run),
    resume(error) {
      const gap = gone.aborted ? undefined : findLogGap(error);
      if (gap === undefined) return undefined;
      const source = subscribe({ incarnation, seq: gap.through });
      return { source, pieces: [encodeGapFrame(gap, incarnation)] };
    },
    onFailure(error) {
      if (gone.aborted) return [];
      if (!(error instanceof SpanlineError)) throw error;
      const body = JSON.stringify(createFailureBody(error.toFailure()));
      return [`event: failure\ndata: ${body}\n\n`];
    },
  });
}

/** The frame in place of the missing events. Its id is the cursor behind the gap, so a resuming reader gets it once. */
function encodeGapFrame({ seq, through }: LogGap, incarnation: Cursor["incarnation"]): string {
  const message = formatLogGap({ seq, through });
  const data = JSON.stringify({
    error: { code: "store_damaged", message, details: { seq, through } },
  });
  return `id: ${formatCursor({ incarnation, seq: through })}\nevent: gap\ndata: ${data}\n\n`;
}
