import type { Principal } from "../domain/actor.ts";
import type { BudgetCaps, ScopeUsage } from "../domain/budget.ts";
import type { AgentSpec } from "../domain/agent-spec.ts";
import type {
  ApprovalRequested,
  ApprovalVoted,
  GrantScope,
} from "../domain/events/approval-events.ts";
import type { SessionMetadata } from "../domain/events/lifecycle-events.ts";
import type { SetClientToolsReply, ClientTools } from "../domain/client-tools.ts";
import type { Cursor } from "../domain/events/envelope.ts";
import type { LiveClient } from "../domain/live-client.ts";
import type { PendingInjectionView } from "../domain/pending-injection.ts";
import type { ModelMessage } from "../domain/model/model-request.ts";
import type { SessionLineage } from "../domain/workers/session-lineage.ts";
import type { SessionMode } from "../domain/session-mode.ts";
import type { Reminder } from "../domain/reminder.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import type { ToolRule } from "../domain/tools/tool-rule.ts";
import type { Usage } from "../domain/usage.ts";
import type { Worker } from "../domain/workers/worker.ts";
import type { EventBatch } from "../store/log-store.ts";
import type { RecordStore } from "../store/record-store.ts";
import type {
  SessionChanges,
  SessionPage,
  SessionQuery,
  SessionRecord,
} from "../store/session-index.ts";

/**
 * The entry points of sessions, and the records of surfaces which belong to no session. Surfaces use the store only
 * through this interface.
 *
 * ```ts
 * const { sessionId } = await sessions.open({ principal });
 * const content = [{ type: "text", text: "Hello" }] as const;
 * await sessions.command(sessionId, { type: "prompt", content }, { principal });
 * for await (const { events } of sessions.subscribe(sessionId, undefined, signal)) show(events);
 * ```
 */
export interface Sessions extends RecordStore {
  /** Opens a session with an agent, selected by name. */
  open(options: OpenOptions): Promise<SessionRecord>;
  /**
   * Opens a session with its first prompt atomically: the log has both or neither. An existing session under this id
   * only receives the prompt, provided it belongs to the same principal.
   */
  openWithPrompt(options: OpenOptions, first: FirstPrompt): Promise<OpenResult>;
  /** Resolves when the events of the command are in the log. */
  command(sessionId: string, command: SessionCommand, from: Sender): Promise<CommandReply>;
  /**
   * Sets the client tools of an attached client, replacing its previous ones, until it detaches. Resolves when the
   * tools are usable, or when setup has failed or takes too long.
   */
  setClientTools(
    sessionId: string,
    equipment: ClientTools,
    from: ClientSender,
  ): Promise<SetClientToolsReply>;
  /** Yields all events after the cursor, or from the beginning, then new ones as they occur. Ends with the signal. */
  subscribe(
    sessionId: string,
    cursor: Cursor | undefined,
    signal: AbortSignal,
  ): AsyncIterable<EventBatch>;
  /** Returns the agent, mode, clients, last prompt and pending tool calls of a session. */
  status(sessionId: string): Promise<SessionStatus>;
  /** Returns the usage and the caps of a session, of its turn, and of the budgets it shares with other sessions. */
  readUsage(sessionId: string): Promise<readonly ScopeUsage[]>;
  /** Returns the messages of both sides up to the event `through` of the session's log. */
  readHistory(sessionId: string, through: number): Promise<readonly ModelMessage[]>;
  /** Lists the agent's tools and how the policy treats each. */
  listToolRules(sessionId: string): Promise<readonly ToolRule[]>;
  find(sessionId: string): Promise<SessionRecord | undefined>;
  list(query: SessionQuery): Promise<SessionPage>;
  /** Yields the changes of the session list. After an item with `reset`, the caller lists the sessions. */
  watchSessions(signal: AbortSignal): AsyncIterable<SessionChanges>;
  /** An image or a whole tool output of a session, in base64. Undefined if the session or the blob does not exist. */
  readBlob(sessionId: string, blobId: string): Promise<string | undefined>;
  delete(sessionId: string): Promise<boolean>;
  /**
   * Rejects with `no_credentials` if the agent's provider would reject the next turn, as far as local checks can tell.
   * Resolves otherwise.
   */
  checkCredentials(agent?: string): Promise<void>;
  /** Resolves if events can be written; rejects with the reason, such as a full disk (`store_full`). */
  checkLog(): Promise<void>;
  /** Names of the available agents. The first is the default. */
  readonly agents: readonly string[];
}

export interface SessionStatus {
  readonly agent: AgentSpec;
  readonly mode: SessionMode;
  readonly metadata: SessionMetadata;
  /** Tokens of the finished turns. Null if no provider reported any. */
  readonly usage: Usage | null;
  /** Active permanent grants. */
  readonly grants: readonly ActiveGrant[];
  /**
   * The last prompt. Null if there is none. Withdrawn prompts, and prompts rejected before they had an effect, do not
   * count.
   */
  readonly lastPrompt: { readonly seq: number; readonly promptId: string } | null;
  /** Tool calls for which a paused turn waits. */
  readonly pendingToolCallIds: readonly string[];
  /** Tools of the running turn's prompter. */
  readonly promptTools: readonly string[];
  /** Prompts excluded from lookups by id. */
  readonly hiddenPromptIds: readonly string[];
  readonly clients: readonly LiveClient[];
  /** Messages and reminders which wait for an injection point, in the order of their acceptance. */
  readonly pendingInjections: readonly PendingInjectionView[];
  /** Workers which have not ended, or whose session is not at rest yet. In the order of their creation. */
  readonly workers: readonly Worker[];
  /** Open requests to people, oldest first. */
  readonly openApprovals: readonly OpenApproval[];
}

/** An open request to people, as logged. */
export interface OpenApproval {
  /** Milliseconds since 1970. */
  readonly requestedAt: number;
  readonly request: ApprovalRequested;
  /** The approvals so far. Empty if one person decides. */
  readonly votes: readonly ApprovalVoted[];
}

export interface ActiveGrant {
  readonly grantId: string;
  readonly scope: GrantScope;
}

export interface OpenOptions {
  /** Chosen by the caller. Opening again with the same id returns the existing session. Default: a new id. */
  readonly sessionId?: string;
  readonly agent?: string;
  readonly principal: Principal;
  readonly title?: string;
  /** Set by the caller. */
  readonly metadata?: SessionMetadata;
  readonly workingDirectory?: string;
  /** Workspace folders besides the working directory. Absolute paths. */
  readonly folders?: readonly string[];
  /** Messages of an earlier conversation. */
  readonly history?: readonly ModelMessage[];
  /** Id of a session whose history is copied, in place of `history`. Both sessions continue independently. */
  readonly copyOf?: string;
  /**
   * Log position of the last event to copy; inside an invocation, the copy includes the whole invocation. Default: the
   * end of the copied log.
   */
  readonly copyThrough?: number;
  /** Set by the caller, for finding the session again. */
  readonly label?: string;
  /** The mode in which the session starts. Default: the mode of the copied session, or `default`. */
  readonly mode?: SessionMode;
  /** The place of a worker's session in its tree. Set by the session which delegates. */
  readonly lineage?: SessionLineage;
  /** Caps of this session besides those of its agent. */
  readonly budget?: BudgetCaps;
  /** Reminders of the session which delegates. Pending at the first prompt. */
  readonly reminders?: readonly Reminder[];
}

export interface FirstPrompt {
  readonly sender: Sender;
  /**
   * Creates the prompt according to the agent's capabilities. An error it throws is rethrown, and no session is opened.
   */
  readonly createPrompt: (agent: AgentSpec) => Extract<SessionCommand, { readonly type: "prompt" }>;
}

/** The session as of before the prompt. */
export interface OpenResult extends Pick<
  SessionRecord,
  "sessionId" | "incarnation" | "agent" | "principal" | "seq"
> {
  /** Absent if the session already existed with another principal or label; the prompt was not submitted then. */
  readonly reply?: CommandReply;
}

export interface Sender {
  readonly principal: Principal;
  readonly clientId?: string;
  /** The client's attachment for which the sender acts. Another client may have attached under the same name since. */
  readonly attachmentId?: string;
  /** The sender's id for this command. A repeated command gets the previous reply. */
  readonly commandId?: string;
}

/** A sender with a client id, attached or attaching. */
export interface ClientSender extends Sender {
  readonly clientId: string;
}
