import type { ClientMode } from "./agent-event.ts";
import type { JsonObject } from "./json.ts";

/** A client that is attached to a session. */
export interface LiveClient {
  readonly clientId: string;
  readonly mode: ClientMode;
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly attachedAt: number;
  readonly lastSeenAt: number;
  /** What it may do here, if its principal may. */
  readonly mayPrompt: boolean;
  readonly mayApprove: boolean;
  /** Its own words about itself. */
  readonly metadata: JsonObject;
}

/** Who is attached after a command about one of them. */
export interface LiveClients {
  /** The one that the command was about; null when it has left. */
  readonly client: LiveClient | null;
  /** Who controlled before the command. */
  readonly previousController: string | null;
  readonly controller: string | null;
  readonly clients: readonly LiveClient[];
}
