import type { EventStreamOptions } from "../../http/routing/event-stream.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { AccessOptions } from "./portal-access.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface PortalOptions extends AccessOptions {
  readonly sessions: Sessions;
  readonly clock: Clock;
  /** A stream that has nothing to say says so this often: proxies and browsers give up on silent ones. */
  readonly heartbeatMs?: number;
  /** A client that takes nothing of what is there for it for so long is cut off. It can go on from its cursor. */
  readonly stalledMs?: number;
  /** How long `wait` waits. Many clients give up after five minutes without an answer. */
  readonly waitMs?: number;
}

/** What the sending of a stream needs of them. */
export function streamingOf(options: PortalOptions): EventStreamOptions {
  const { clock, heartbeatMs, stalledMs } = options;
  return {
    clock,
    ...omitUndefined({ heartbeatMs, stalledMs }),
  };
}
