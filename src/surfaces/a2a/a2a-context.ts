import type { A2aSettings } from "../../domain/a2a-settings.ts";
import type { Access } from "../../http/access/access.ts";
import type { RateLimits } from "../../http/access/rate-limits.ts";
import type { EventStreamOptions } from "../../http/routing/event-stream.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { PushService } from "./push/push-service.ts";

export interface A2aOptions {
  readonly sessions: Sessions;
  readonly access: Access;
  readonly rates?: RateLimits;
  readonly settings: A2aSettings;
  /** Version of this package, for the agent card. */
  readonly version: string;
  readonly streaming: EventStreamOptions;
  /** Whether callers need a key. */
  readonly requiresKey: boolean;
  /** Opens a session under a well-formed id of the caller. Otherwise a context starts with its first message. */
  readonly adoptContexts: boolean;
  /** The address of this server for its clients. Default: `http` and the host of the request. Required behind a TLS proxy. */
  readonly publicUrl?: string;
  /** Absent: the server sends no push notifications. */
  readonly push?: PushService;
  /** Receives errors which no caller receives. */
  readonly report: (error: unknown) => void;
}
