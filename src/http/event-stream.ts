import { GUARDING_HEADERS } from "./json-answer.ts";
import type { Pace, ServedAnswer } from "./served.ts";

export interface EventStreamOptions extends Omit<Pace, "heartbeat"> {
  readonly heartbeatMs?: number;
  readonly headers?: ServedAnswer["headers"];
}

const DEFAULT_HEARTBEAT_MS = 15_000;
/** A comment, which readers pass over. */
const HEARTBEAT = ":\n\n";

/** Behind a proxy that gathers answers, events would come late. */
const EVENT_STREAM_HEADERS = {
  ...GUARDING_HEADERS,
  "content-type": "text/event-stream; charset=utf-8",
  "x-accel-buffering": "no",
} as const;

/** One event as text. A line break in the data would end it. */
export function eventText(event: string | undefined, data: string): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${event === undefined ? "" : `event: ${event}\n`}${lines.join("")}\n`;
}

/**
 * Events as an answer, each written at once and whole. The source is asked for the next when the client has taken the one
 * before, so that a slow one holds up its own source and costs no memory; one that takes nothing is cut off.
 */
export function eventStream(
  events: AsyncIterable<string | Uint8Array>,
  { heartbeatMs: everyMs = DEFAULT_HEARTBEAT_MS, headers, ...pace }: EventStreamOptions,
): ServedAnswer {
  return {
    status: 200,
    headers: { ...EVENT_STREAM_HEADERS, ...headers },
    body: events,
    pace: { ...pace, heartbeat: { everyMs, piece: HEARTBEAT } },
  };
}
