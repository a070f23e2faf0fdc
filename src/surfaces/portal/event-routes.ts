import { flattenAsync } from "../../async/flatten-async.ts";
import type { Cursor } from "../../domain/events/envelope.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { ServedRequest } from "../../http/server/http-types.ts";
import { principalOf } from "./access.ts";
import { failureBody } from "./error-body.ts";
import { parseCursor } from "./cursor-text.ts";
import { EventFrames, type EventRun } from "./event-frames.ts";
import { readHeader } from "../../http/routing/read-header.ts";
import { createEventStream } from "../../http/routing/event-stream.ts";
import { streamingOf, type PortalOptions } from "./portal-options.ts";
import { createInvalidRequestError } from "../../http/routing/json-body.ts";
import type { Route } from "../../http/routing/router.ts";
import { foundSession, type SessionRecord } from "./session-view.ts";

/** A session's log as server-sent events, from a cursor or from its beginning, and then whatever comes. */
export function eventRoutes(options: PortalOptions): Route[] {
  const { sessions } = options;
  const frames = new EventFrames();
  return [
    {
      method: "GET",
      path: "/api/sessions/:id/events",
      async handle(request, { id = "" }) {
        const principal = principalOf(request, options);
        const cursor = cursorIn(request);
        const record = await foundSession(sessions, id, principal);
        const events = sessions.subscribe(id, cursor, request.disconnectSignal);
        const batches = events[Symbol.asyncIterator]();
        const ready = isAtEnd(cursor, record) ? batches : await firstFetched(batches);
        const { disconnectSignal } = request;
        return createEventStream(streamed(ready, frames, disconnectSignal), streamingOf(options));
      },
    },
  ];
}

/** A browser that reconnects asks for the address it had, with the cursor of then: the header knows better. */
function cursorIn(request: ServedRequest): Cursor | undefined {
  const asked = new URLSearchParams(request.query).get("cursor") ?? "";
  const text = readHeader(request, "last-event-id") || asked;
  if (text === "") return undefined;
  const cursor = parseCursor(text);
  if (cursor === undefined)
    throw createInvalidRequestError(`The cursor "${text}" is no id of an event`);
  return cursor;
}

/** Nothing is to be read yet: the stream has to begin without it. */
function isAtEnd(cursor: Cursor | undefined, { incarnation, seq }: SessionRecord): boolean {
  return cursor === undefined
    ? seq === 0
    : cursor.incarnation === incarnation && cursor.seq === seq;
}

/**
 * Where there is something to read, it comes at once, or the news that the cursor is none of this log's. Only before
 * the stream has begun can that be said with a status, which a browser does not answer by trying again.
 */
async function firstFetched<Item>(source: AsyncIterator<Item>): Promise<AsyncIterator<Item>> {
  let first: IteratorResult<Item> | undefined = await source.next();
  return {
    next() {
      if (first === undefined) return source.next();
      const given = Promise.resolve(first);
      // A reader that never reads on would hold it for as long as it is there.
      first = undefined;
      return given;
    },
    return: async () => (await source.return?.()) ?? { done: true, value: undefined },
  };
}

function streamed(
  batches: AsyncIterator<EventRun>,
  frames: EventFrames,
  gone: AbortSignal,
): AsyncIterable<Uint8Array | string> {
  return flattenAsync<EventRun, Uint8Array | string>(batches, {
    // How long a browser waits before it connects again.
    initial: ["retry: 1000\n\n"],
    expand: (run) => frames.pieces(run),
    onFailure(error) {
      if (gone.aborted) return [];
      if (!(error instanceof SpanlineError)) throw error;
      const body = JSON.stringify(failureBody(error.toFailure()));
      return [`event: failure\ndata: ${body}\n\n`];
    },
  });
}
