import type { TimeBudgetClock } from "../../async/time-budget.ts";
import type { BudgetCaps } from "../../domain/budget.ts";
import type { ClientRole } from "../../domain/events/client-events.ts";
import type { JsonObject, JsonValue } from "../../data/json.ts";
import type { LiveClient, ClientStatus } from "../../domain/live-client.ts";
import type { ToolCallStatus } from "../../domain/session-command.ts";
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
import type {
  CompactOptions,
  InjectedMessage,
  ReminderOptions,
  WatchedFiles,
} from "../../wire/acp/client/steering-requests.ts";
import type {
  IdleWait,
  InjectResult,
  PendingInjection,
} from "../../wire/acp/client/steering-results.ts";
import type { WorkerRow, WorkerState, WorkerTask } from "../../wire/acp/client/worker-messages.ts";
import type { Host } from "../methods/create-host.ts";
import type { KeepAliveRules } from "../connection/keep-alive.ts";
import type { ConnectionState, ReconnectRules } from "../connection/reconnecting-connection.ts";
import type { PromptRun } from "./prompt-run.ts";
import type { Report } from "../connection/host-report.ts";

/**
 * A client of an ACP agent, with the extensions of a bridge.
 *
 * The first call opens the connection. If the connection is lost and `connect` can open another, the client reconnects
 * and resumes its sessions. Requests safe to repeat are sent again; others reject with `connection_lost`.
 *
 * ```ts
 * const client = createClient(() => connectWebSocket("ws://127.0.0.1:4777/acp"));
 * const { sessionId } = await client.newSession({ workingDirectory: "/work" });
 * const run = client.prompt(sessionId, "Hello");
 * for await (const update of run) if (update.type === "agent-text") process.stdout.write(update.text);
 * ```
 */
export interface Client {
  /** Connects and returns the agent's profile. Every other method connects first too. */
  initialize(): Promise<AgentProfile>;
  authenticate(methodId: string): Promise<void>;
  newSession(place: SessionLocation): Promise<OpenedSession>;
  /** Opens a session and sends its whole history as updates before resolving. */
  loadSession(sessionId: string, place: SessionLocation): Promise<OpenedSession>;
  /** Opens a session without its history; only later updates are sent. */
  resumeSession(sessionId: string, place: SessionLocation): Promise<OpenedSession>;
  forkSession(sessionId: string, place: SessionLocation): Promise<OpenedSession>;
  listSessions(query?: ListSessionsQuery): Promise<SessionPage>;
  closeSession(sessionId: string): Promise<void>;
  deleteSession(sessionId: string): Promise<void>;
  prompt(
    sessionId: string,
    content: string | readonly PromptBlock[],
    options?: PromptSettings,
  ): PromptRun;
  /**
   * Cancels the running turn and the queued prompts of the session. Prompts still resolve, with the reason `cancelled`.
   */
  cancel(sessionId: string): Promise<void>;
  setMode(sessionId: string, modeId: string): Promise<void>;
  /** Sets an option and returns all options with their current values. */
  setOption(sessionId: string, option: string, value: JsonValue): Promise<readonly ConfigOption[]>;
  attach(sessionId: string, attachment: Attachment): Promise<ClientStatus>;
  /** Takes control of the session, as the attached client. */
  takeOver(sessionId: string): Promise<ClientStatus>;
  heartbeat(sessionId: string, metadata?: JsonObject): Promise<ClientStatus>;
  detach(sessionId: string, reason?: string): Promise<ClientStatus>;
  liveClients(sessionId: string): Promise<readonly LiveClient[]>;
  /**
   * Sends a message to a running turn (`steer`, the default) or to a turn of its own (`queue`). Resolves as soon as the
   * agent has accepted the message.
   */
  inject(sessionId: string, message: string | InjectedMessage): Promise<InjectResult>;
  /**
   * Changes a message that is not delivered yet. Rejects with `details.reason`: `already_delivered`, `already_revoked`,
   * `unknown_message_id` or `not_owner_or_not_authorized`.
   */
  replaceInject(
    sessionId: string,
    messageId: string,
    content: InjectedMessage["content"],
  ): Promise<void>;
  /** Returns false if the message was already revoked. Rejects like `replaceInject`. */
  revokeInject(sessionId: string, messageId: string): Promise<boolean>;
  /** Queues context for the agent which is not a message of the user. Returns the id of the reminder. */
  remind(sessionId: string, reminder: string | ReminderOptions): Promise<string>;
  revokeReminder(sessionId: string, reminderId: string): Promise<boolean>;
  /** The messages and reminders that wait for an injection point, oldest first. */
  pendingInjections(sessionId: string): Promise<readonly PendingInjection[]>;
  /** Starts a worker with a task. Its updates have the type `worker`. */
  delegate(sessionId: string, task: string | WorkerTask): Promise<WorkerState>;
  /** Starts the next cycle of a worker that waits. Rejects with `conflict` if the worker does not wait. */
  triggerWorker(sessionId: string, workerId: string, payload: JsonValue): Promise<WorkerState>;
  /** Cancels a worker. Resolves without effect if the worker has ended. */
  closeWorker(sessionId: string, workerId: string): Promise<void>;
  /** The workers of a session that have not ended, in the order of their creation. */
  workers(sessionId: string): Promise<readonly WorkerRow[]>;
  /**
   * Cancels a tool call of the running turn. The turn continues, and the model receives an error result with the reason.
   */
  cancelToolCall(sessionId: string, toolCallId: string, reason?: string): Promise<ToolCallStatus>;
  /**
   * Replaces the older part of the conversation in requests to the model, before the next request. Resolves with the id
   * of the compaction as soon as the agent has accepted the request; the update `transcript_compacted` has the result.
   */
  compact(sessionId: string, options?: CompactOptions): Promise<string>;
  /**
   * Subscribes to changes of files of the session's workspace, for a day or until this client detaches. The changes
   * arrive as the extension update `fs_watch`. Returns the id of the subscription.
   */
  watchFiles(sessionId: string, files?: WatchedFiles): Promise<string>;
  unwatchFiles(sessionId: string, subscriptionId: string): Promise<void>;
  /** Wakes an idle daemon without a message. */
  resume(sessionId: string): Promise<void>;
  /** Notifies the agent of changed host skills. */
  skillsChanged(): Promise<void>;
  /** Sends any other request and returns the raw result. */
  request(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonValue>;
  /** Closes the connection. The agent's sessions continue. */
  close(): Promise<void>;
}

export interface PromptSettings {
  /**
   * The budget of the turn, next to the budgets of the agent. A turn that reaches its budget pauses and requests an
   * approval. Agents other than a bridge ignore the budget.
   */
  readonly budget?: BudgetCaps;
}

export interface ListSessionsQuery {
  readonly workingDirectory?: string;
  readonly page?: string;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Whether the request may be sent again after a lost response. Default: false. */
  readonly repeatable?: boolean;
}

export interface ClientOptions {
  /** The features this program offers to the agent. Default: all requests of the agent are refused. */
  readonly host?: Host;
  readonly info?: ClientInfo;
  /** Receives the updates of all sessions, in order. */
  readonly onUpdate?: (notification: SessionNotification) => void;
  /**
   * Called around a replay of a session's history, so a program can clear its view. A replay happens in `loadSession`,
   * again if the connection was lost meanwhile, and when a reconnect has to load a session.
   */
  readonly onHistory?: (sessionId: string, state: "begins" | "ends") => void;
  /** Called when the role of the attached client changes, by its own `takeOver` or by another client. */
  readonly onControl?: (sessionId: string, control: ClientControl) => void;
  /** Called at the start of every wait of an idle daemon. */
  readonly onIdle?: (wait: IdleWait) => void;
  readonly onState?: (state: ConnectionState) => void;
  /** How sessions are resumed after a reconnect. `load` replays the history. Default: `resume`. */
  readonly reconnectMode?: "resume" | "load";
  readonly reconnect?: Partial<ReconnectRules>;
  /** When an unresponsive WebSocket is closed. Default: ping after 15 s, timeout 10 s. */
  readonly keepAlive?: Partial<KeepAliveRules>;
  readonly report?: Report;
  readonly clock?: TimeBudgetClock;
  /** Returns a number from 0 up to 1 for the jitter of reconnect delays. Default: random. */
  readonly random?: () => number;
}

export interface ClientControl {
  readonly mode: ClientRole;
  /** The controlling client's id. Null if no client controls the session or the controller is unknown. */
  readonly controller: string | null;
}

export interface SessionNotification {
  readonly sessionId: string;
  readonly update: SessionUpdate;
  /** Whether the update is part of a history replay. */
  readonly isHistory: boolean;
}
