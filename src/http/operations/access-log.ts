import { formatIsoTime } from "../../text/format-iso-time.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ExchangeObserver } from "../server/http-exchange.ts";

export interface AccessLogOptions {
  readonly clock: Clock;
  /** Takes one line, its end included. */
  readonly write: (line: string) => void;
}

/** One line of JSON for each request. What an exchange does not tell, it cannot give away. */
export function createAccessLog({ clock, write }: AccessLogOptions): ExchangeObserver {
  return {
    onEnd({ milliseconds, status = 0, ...exchange }) {
      const time = formatIsoTime(clock.now());
      const durationMs = Math.round(milliseconds * 10) / 10;
      write(`${JSON.stringify({ time, ...exchange, status, milliseconds: durationMs })}\n`);
    },
  };
}
