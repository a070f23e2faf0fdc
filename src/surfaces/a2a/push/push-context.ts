import type { Caller } from "../../../http/access/caller.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Sessions } from "../../../session/sessions.ts";

export interface PushOptions {
  readonly sessions: Sessions;
  /** Everyone who may use this server. The configs of other callers rest. */
  readonly callers: readonly Caller[];
  readonly clock: Clock;
  /** Version of this package, for the user agent. */
  readonly version: string;
  /** Sends also to addresses of the private network or of this machine. */
  readonly allowPrivate: boolean;
  /** Milliseconds for one attempt. Default: 10 seconds. */
  readonly timeoutMs?: number;
  /** Receives errors which no caller receives. */
  readonly report: (error: unknown) => void;
}

/** The setting that allows private addresses. */
export const PRIVATE_SETTING = "serve.a2a.push.allowPrivate";
