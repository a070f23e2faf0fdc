import { flattenAsync } from "../../async/flatten-async.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { Cursor } from "../../domain/events/envelope.ts";
import { createEventStream } from "../../http/routing/event-stream.ts";
import { createInvalidRequestError } from "../../http/routing/json-body.ts";
import { readHeader } from "../../http/routing/read-header.ts";
import type { Route } from "../../http/routing/router.ts";
import type { ServedRequest } from "../../http/server/http-types.ts";
import { principalOf } from "./portal-access.ts";
import { parseCursor, cursorText } from "./cursor-text.ts";
import { failureBody } from "./error-body.ts";
import { EventFrames, type EventRun } from "./event-frames.ts";
import { streamingOf, type PortalOptions } from "./portal-options.ts";
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
        const { disconnectSignal } = request;
        const subscribe = (start: Cursor | undefined): AsyncIterator<EventRun> =>
          sessions.subscribe(id, start, disconnectSignal)[Symbol.asyncIterator]();
        const batches = subscribe(cursor);
        const ready = isAtEnd(cursor, record) ? batches : await firstFetched(batches);
        const { incarnation } = record;
        const reader = { frames, disconnectSignal, subscribe, incarnation };
        return createEventStream(streamed(ready, reader), streamingOf(options));
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
  let first: Promise<IteratorResult<Item>> | undefined = source.next();
  // A gap is no reason not to begin: the stream says it, and goes on behind it.
  await first.catch((error: unknown) => {
    if (findGap(error) === undefined) throw error;
  });
  return {
    next() {
      if (first === undefined) return source.next();
      const given = first;
      // A reader that never reads on would hold it for as long as it is there.
      first = undefined;
      return given;
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

function streamed(
  batches: AsyncIterator<EventRun>,
  { frames, disconnectSignal: gone, subscribe, incarnation }: EventReader,
): AsyncIterable<Uint8Array | string> {
  return flattenAsync<EventRun, Uint8Array | string>(batches, {
    // How long a browser waits before it connects again.
    initial: ["retry: 1000\n\n"],
    expand: (run) => frames.pieces(run),
    resume(error) {
      const gap = gone.aborted ? undefined : findGap(error);
      if (gap === undefined) return undefined;
      const source = subscribe({ incarnation, seq: gap.through });
      return { source, pieces: [gapFrame(gap, incarnation)] };
    },
    onFailure(error) {
      if (gone.aborted) return [];
      if (!(error instanceof SpanlineError)) throw error;
      const body = JSON.stringify(failureBody(error.toFailure()));
      return [`event: failure\ndata: ${body}\n\n`];
    },
  });
}

/** Events of a log that are missing or cannot be read, by their first and last `seq`. */
interface LogGap {
  readonly seq: number;
  readonly through: number;
}

/** The gap that a reader of a log stopped at; undefined for any other error. */
function findGap(error: unknown): LogGap | undefined {
  if (!(error instanceof SpanlineError) || error.code !== "store_damaged") return undefined;
  const { seq, through } = error.details;
  return typeof seq === "number" && typeof through === "number" ? { seq, through } : undefined;
}

/** The frame in place of the events. Its id is the cursor behind the gap, so that a reader that resumes gets it once. */
function gapFrame({ seq, through }: LogGap, incarnation: Cursor["incarnation"]): string {
  const events =
    seq === through ? `Event ${seq} of the log is` : `Events ${seq} to ${through} of the log are`;
  const message = `${events} missing or cannot be read. Fix: see spanline sessions check`;
  const data = JSON.stringify({
    error: { code: "store_damaged", message, details: { seq, through } },
  });
  return `id: ${cursorText({ incarnation, seq: through })}\nevent: gap\ndata: ${data}\n\n`;
}
