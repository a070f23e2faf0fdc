import type { BudgetClock } from "../../async/budget.ts";
import type { ClientRole } from "../../domain/events/client-events.ts";
import type { JsonObject, JsonValue } from "../../data/json.ts";
import type { LiveClient, ClientStatus } from "../../domain/live-client.ts";
import type { AgentProfile } from "../../wire/acp/client/agent-profile.ts";
import type {
  Attachment,
  ClientInfo,
  SessionLocation,
} from "../../wire/acp/client/agent-requests.ts";
import type { OpenedSession, SessionPage } from "../../wire/acp/client/agent-results.ts";
import type { PromptBlock } from "../../wire/acp/client/prompt-block.ts";
import type { SessionUpdate } from "../../wire/acp/client/session-update.ts";
import type { ConfigOption } from "../../wire/acp/client/session-settings.ts";
import type { Host } from "../methods/create-host.ts";
import type { KeepAliveRules } from "../connection/keep-alive.ts";
import type { ConnectionState, ReconnectRules } from "../connection/reconnecting-connection.ts";
import type { PromptRun } from "./prompt-run.ts";
import type { Report } from "../connection/host-report.ts";

/**
 * Talks to an agent over ACP, and to a bridge with what bridges have beside it.
 *
 * The connection is made with the first call. When it is lost, and there is a way to make another, sessions are taken up
 * again; calls that may be made twice are made again, and others reject with `connection_lost`.
 */
export interface Client {
  /** Who the agent is. Every other call does this first. */
  initialize(): Promise<AgentProfile>;
  authenticate(methodId: string): Promise<void>;
  newSession(place: SessionLocation): Promise<OpenedSession>;
  /** Tells all that was said before it resolves. */
  loadSession(sessionId: string, place: SessionLocation): Promise<OpenedSession>;
  /** Tells only what comes. */
  resumeSession(sessionId: string, place: SessionLocation): Promise<OpenedSession>;
  forkSession(sessionId: string, place: SessionLocation): Promise<OpenedSession>;
  listSessions(query?: ListSessionsQuery): Promise<SessionPage>;
  closeSession(sessionId: string): Promise<void>;
  deleteSession(sessionId: string): Promise<void>;
  prompt(sessionId: string, content: string | readonly PromptBlock[]): PromptRun;
  /** Ends what the session does. Prompts are answered all the same, as cancelled. */
  cancel(sessionId: string): Promise<void>;
  setMode(sessionId: string, modeId: string): Promise<void>;
  /** All options, as they are then. */
  setOption(sessionId: string, option: string, value: JsonValue): Promise<readonly ConfigOption[]>;
  attach(sessionId: string, attachment: Attachment): Promise<ClientStatus>;
  /** Takes control as the client that is attached. */
  takeOver(sessionId: string): Promise<ClientStatus>;
  heartbeat(sessionId: string, metadata?: JsonObject): Promise<ClientStatus>;
  detach(sessionId: string, reason?: string): Promise<ClientStatus>;
  liveClients(sessionId: string): Promise<readonly LiveClient[]>;
  /** The host's skills are others now. */
  skillsChanged(): Promise<void>;
  /** Any other request, and its result as it came. */
  request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonValue>;
  /** The agent is left; its sessions go on. */
  close(): Promise<void>;
}

export interface ListSessionsQuery {
  readonly workingDirectory?: string;
  readonly page?: string;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Whether it may be made again when its answer was lost. */
  readonly repeatable?: boolean;
}

export interface ClientOptions {
  /** What the agent may ask for. Without it everything is refused. */
  readonly host?: Host;
  readonly info?: ClientInfo;
  /** Everything that any session says, in order. */
  readonly onUpdate?: (notification: SessionNotification) => void;
  /**
   * A session is told from its beginning: what is on the screen of it goes. By `loadSession`, once more where the connection
   * was lost meanwhile; and where a session is taken up by that.
   */
  readonly onHistory?: (sessionId: string, state: "begins" | "ends") => void;
  /** The mode of the client, which is attached, has changed: by its own `takeOver`, or by what others do. */
  readonly onControl?: (sessionId: string, control: ClientControl) => void;
  readonly onState?: (state: ConnectionState) => void;
  /** How sessions are taken up on a new connection: `load` tells all that was said once more. */
  readonly reconnectMode?: "resume" | "load";
  readonly reconnect?: Partial<ReconnectRules>;
  /** How soon a WebSocket is given up whose other side says nothing any more. */
  readonly keepAlive?: Partial<KeepAliveRules>;
  readonly report?: Report;
  readonly clock?: BudgetClock;
  /** From 0 up to 1, for waits that are not all the same. */
  readonly random?: () => number;
}

export interface ClientControl {
  readonly mode: ClientRole;
  /** Who controls; null where nobody does, or nobody says. */
  readonly controller: string | null;
}

export interface SessionNotification {
  readonly sessionId: string;
  readonly update: SessionUpdate;
  /** Whether it was said before: the session is being loaded. */
  readonly isHistory: boolean;
}
