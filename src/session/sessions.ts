import type { Principal } from "../domain/actor.ts";
import type { AgentSpec } from "../domain/agent-spec.ts";
import type { GrantScope } from "../domain/events/approval-events.ts";
import type { SessionMetadata } from "../domain/events/lifecycle-events.ts";
import type { SetClientToolsReply, ClientTools } from "../domain/client-tools.ts";
import type { Cursor } from "../domain/events/envelope.ts";
import type { LiveClient } from "../domain/live-client.ts";
import type { ModelMessage } from "../domain/model/model-request.ts";
import type { SessionMode } from "../domain/session-mode.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import type { ToolRule } from "../domain/tools/tool-rule.ts";
import type { Usage } from "../domain/usage.ts";
import type { EventBatch } from "../store/log-store.ts";
import type { SessionPage, SessionQuery, SessionRecord } from "../store/session-index.ts";

/** The session's entry points: all that a surface knows of sessions. */
export interface Sessions {
  /** Begins a session with an agent, by its name. */
  open(options: OpenOptions): Promise<SessionRecord>;
  /**
   * Begins a session with its first prompt: both are in the log, or neither. Where there is one under that id, it is only
   * given the prompt, and another principal's is not.
   */
  openWithPrompt(options: OpenOptions, first: FirstPrompt): Promise<OpenResult>;
  /** Resolves when what the command changed is in the log. */
  command(sessionId: string, command: SessionCommand, from: Sender): Promise<CommandReply>;
  /**
   * What a client that is attached brings to a session, in place of what it brought before; it goes when the client does.
   * Resolves when it can be used, as far as it can, or will not be soon.
   */
  setClientTools(
    sessionId: string,
    equipment: ClientTools,
    from: ClientSender,
  ): Promise<SetClientToolsReply>;
  /** Everything after the cursor, or from the beginning, and then whatever comes. Ends with the signal. */
  subscribe(
    sessionId: string,
    cursor: Cursor | undefined,
    signal: AbortSignal,
  ): AsyncIterable<EventBatch>;
  /** What a session waits for, and what was asked of it last. */
  status(sessionId: string): Promise<SessionStatus>;
  /** The messages of both sides after the event `through` of the session's log. */
  readHistory(sessionId: string, through: number): Promise<readonly ModelMessage[]>;
  /** What its agent can call, and what would become of that. */
  listToolRules(sessionId: string): Promise<readonly ToolRule[]>;
  find(sessionId: string): Promise<SessionRecord | undefined>;
  list(query: SessionQuery): Promise<SessionPage>;
  delete(sessionId: string): Promise<boolean>;
  /**
   * Resolves when nothing is known to stand in the way of an agent's next turn, by its name; rejects where its service would
   * let nobody in, as far as that can be told without asking it.
   */
  checkCredentials(agent?: string): Promise<void>;
  /** Resolves if events can be written; rejects with the reason, such as a full disk (`store_full`). */
  checkLog(): Promise<void>;
  /** The names of the agents that a session can be opened with; the first is the default. */
  readonly agents: readonly string[];
}

export interface SessionStatus {
  readonly agent: AgentSpec;
  readonly mode: SessionMode;
  readonly metadata: SessionMetadata;
  /** Tokens of the turns that have ended; null where no provider said. */
  readonly usage: Usage | null;
  /** What was allowed for good. */
  readonly grants: readonly ActiveGrant[];
  /** Null where nothing was asked. What was taken back was not, nor what was turned away unheard. */
  readonly lastPrompt: { readonly seq: number; readonly promptId: string } | null;
  /** The calls that a paused turn waits for. */
  readonly pendingToolCallIds: readonly string[];
  /** Tools of whoever prompted the turn that runs. */
  readonly promptTools: readonly string[];
  /** Prompts that nobody is to find any more. */
  readonly hiddenPromptIds: readonly string[];
  readonly clients: readonly LiveClient[];
}

export interface ActiveGrant {
  readonly grantId: string;
  readonly scope: GrantScope;
}

export interface OpenOptions {
  /** Made by the caller: opening again under the same id gives the same session. */
  readonly sessionId?: string;
  readonly agent?: string;
  readonly principal: Principal;
  readonly title?: string;
  /** The caller's own facts about it. */
  readonly metadata?: SessionMetadata;
  readonly workingDirectory?: string;
  /** Folders that belong to the workspace beside that one: absolute paths. */
  readonly folders?: readonly string[];
  /** What was said elsewhere before. */
  readonly history?: readonly ModelMessage[];
  /** The session in which it was said, in place of what was said: both go on from there, each for itself. */
  readonly copyOf?: string;
  /** The caller's own word, by which the session can be found again. */
  readonly label?: string;
}

export interface FirstPrompt {
  readonly sender: Sender;
  /** By what the agent can do. What it throws is thrown, and nothing is begun. */
  readonly createPrompt: (agent: AgentSpec) => Extract<SessionCommand, { readonly type: "prompt" }>;
}

/** A session as it was before the prompt. */
export interface OpenResult extends Pick<
  SessionRecord,
  "sessionId" | "incarnation" | "agent" | "principal" | "seq"
> {
  /** Absent where the session was there, and is another's or was opened under another label: then nothing was said in it. */
  readonly reply?: CommandReply;
}

export interface Sender {
  readonly principal: Principal;
  readonly clientId?: string;
  /** The client's stay that it speaks for: another one under the same name may have begun since. */
  readonly attachmentId?: string;
  /** The sender's own name for this command: sent again, it gets the reply that it got before. */
  readonly commandId?: string;
}

/** A sender that is, or comes as, a client. */
export interface ClientSender extends Sender {
  readonly clientId: string;
}
