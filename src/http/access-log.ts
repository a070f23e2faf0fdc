import { isoTime } from "../domain/iso-time.ts";
import type { Clock } from "../platform/clock.ts";
import type { ExchangeObserver } from "./exchange.ts";

export interface AccessLogOptions {
  readonly clock: Clock;
  /** Takes one line, its end included. */
  readonly write: (line: string) => void;
}

/** One line of JSON for each request. What an exchange does not tell, it cannot give away. */
export function accessLog({ clock, write }: AccessLogOptions): ExchangeObserver {
  return {
    ended({ milliseconds, status = 0, ...exchange }) {
      const time = isoTime(clock.now());
      const took = Math.round(milliseconds * 10) / 10;
      write(`${JSON.stringify({ time, ...exchange, status, milliseconds: took })}\n`);
    },
  };
}
