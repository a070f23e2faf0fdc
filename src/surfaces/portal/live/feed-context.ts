import type { Caller } from "../../../http/access/caller.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Sessions } from "../../../session/sessions.ts";
import type { InboxIndex } from "./inbox-index.ts";
import type { LiveWriter } from "./live-writer.ts";

/** Shared parts of the topics of a connection. */
export interface FeedContext {
  readonly sessions: Sessions;
  readonly caller: Caller;
  readonly writer: LiveWriter;
  readonly clock: Clock;
  /** Shared by all connections. */
  readonly inbox: InboxIndex;
  /** Milliseconds between two frames of a topic. Changes in between are sent together. */
  readonly intervalMs: number;
}
