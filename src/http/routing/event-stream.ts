import { SECURITY_HEADERS } from "./json-response.ts";
import type { StreamPace, ServedResponse } from "../server/http-types.ts";

export interface EventStreamOptions extends Omit<StreamPace, "heartbeat"> {
  readonly heartbeatMs?: number;
  readonly headers?: ServedResponse["headers"];
}

const DEFAULT_HEARTBEAT_MS = 15_000;
/** A comment, which readers pass over. */
const HEARTBEAT = ":\n\n";

/** Behind a proxy that gathers answers, events would come late. */
const EVENT_STREAM_HEADERS = {
  ...SECURITY_HEADERS,
  "content-type": "text/event-stream; charset=utf-8",
  "x-accel-buffering": "no",
} as const;

/** One event as text. A line break in the data would end it. */
export function formatEvent(event: string | undefined, data: string): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${event === undefined ? "" : `event: ${event}\n`}${lines.join("")}\n`;
}

/**
 * Events as an answer, each written at once and whole. The source is asked for the next when the client has taken the one
 * before, so that a slow one holds up its own source and costs no memory; one that takes nothing is cut off.
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
