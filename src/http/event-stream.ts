import { cutWhenStalled, type StallOptions } from "./cut-when-stalled.ts";
import { QUIET, withHeartbeats } from "./heartbeats.ts";
import { GUARDING_HEADERS } from "./json-answer.ts";
import type { ServedAnswer } from "./served.ts";

export interface EventStreamOptions extends StallOptions {
  /** A stream that has nothing to say says so this often: proxies and clients give up on silent ones. */
  readonly heartbeatMs?: number;
  readonly headers?: ServedAnswer["headers"];
}

export const DEFAULT_HEARTBEAT_MS = 15_000;

/** Behind a proxy that gathers answers, events would come late. */
export const EVENT_STREAM_HEADERS = {
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
  events: AsyncIterable<string>,
  { heartbeatMs: everyMs = DEFAULT_HEARTBEAT_MS, headers, ...options }: EventStreamOptions,
): ServedAnswer {
  const { clock } = options;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const source = events[Symbol.asyncIterator]();
    try {
      for await (const event of withHeartbeats(source, { clock, everyMs })) {
        yield Buffer.from(event === QUIET ? ":\n\n" : event);
      }
    } finally {
      await source.return?.();
    }
  }
  return {
    status: 200,
    headers: { ...EVENT_STREAM_HEADERS, ...headers },
    ...cutWhenStalled(pieces(), options),
  };
}
