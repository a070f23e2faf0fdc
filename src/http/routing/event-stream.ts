import { SECURITY_HEADERS } from "./json-response.ts";
import type { StreamPace, ServedResponse } from "../server/http-types.ts";

export interface EventStreamOptions extends Omit<StreamPace, "heartbeat"> {
  readonly heartbeatMs?: number;
  readonly headers?: ServedResponse["headers"];
}

const DEFAULT_HEARTBEAT_MS = 15_000;
/** An SSE comment, which clients ignore. */
const HEARTBEAT = ":\n\n";

/** `x-accel-buffering: no` stops reverse proxies from buffering the response, which would delay events. */
const EVENT_STREAM_HEADERS = {
  ...SECURITY_HEADERS,
  "content-type": "text/event-stream; charset=utf-8",
  "x-accel-buffering": "no",
} as const;

/** Formats one SSE event. A line break in the data would end its field, so each line gets its own `data:` prefix. */
export function formatEvent(event: string | undefined, data: string): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${event === undefined ? "" : `event: ${event}\n`}${lines.join("")}\n`;
}

/**
 * A response which streams events, each written immediately and in one chunk. The next event is pulled only after the
 * client has accepted the previous event: a slow client delays only its own source and uses no extra memory, and a
 * client which stops reading is disconnected.
 */
export function createEventStream(
  events: AsyncIterable<string | Uint8Array>,
  { heartbeatMs: everyMs = DEFAULT_HEARTBEAT_MS, headers, ...pace }: EventStreamOptions,
): ServedResponse {
  return {
    status: 200,
    headers: { ...EVENT_STREAM_HEADERS, ...headers },
    body: events,
    pace: { ...pace, heartbeat: { everyMs, piece: HEARTBEAT } },
  };
}
