import { formatIsoTime } from "../../text/format-iso-time.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ExchangeObserver } from "../server/http-exchange.ts";

export interface AccessLogOptions {
  readonly clock: Clock;
  /** Receives one line, including its line end. */
  readonly write: (line: string) => void;
}

/**
 * Writes one line of JSON per request. An `Exchange` contains no message content and no key, so neither can leak here.
 */
export function createAccessLog({ clock, write }: AccessLogOptions): ExchangeObserver {
  return {
    onEnd({ milliseconds, status = 0, ...exchange }) {
      const time = formatIsoTime(clock.now());
      const durationMs = Math.round(milliseconds * 10) / 10;
      write(`${JSON.stringify({ time, ...exchange, status, milliseconds: durationMs })}\n`);
    },
  };
}
