import type { EventStreamOptions } from "../../http/routing/event-stream.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { AccessOptions } from "./portal-access.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface PortalOptions extends AccessOptions {
  readonly sessions: Sessions;
  readonly clock: Clock;
  /** Milliseconds between heartbeats of an idle stream, because proxies and browsers close silent connections. */
  readonly heartbeatMs?: number;
  /** Milliseconds after which a client that reads nothing is disconnected. The client can resume from its cursor. */
  readonly stalledMs?: number;
  /**
   * Maximum milliseconds for requests with `wait`. Default: 280,000, because many clients time out after five minutes.
   */
  readonly waitMs?: number;
}

/** The options of an event stream. */
export function createStreamOptions(options: PortalOptions): EventStreamOptions {
  const { clock, heartbeatMs, stalledMs } = options;
  return {
    clock,
    ...omitUndefined({ heartbeatMs, stalledMs }),
  };
}
