import type { Principal } from "../domain/actor.ts";
import type { Cursor } from "../domain/envelope.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import type { Batch, SessionPage, SessionQuery, SessionRecord } from "../store/store.ts";

/** The session's entry points: all that a surface knows of sessions. */
export interface Sessions {
  /** Begins a session with an agent, by its name. */
  open(options: OpenSession): Promise<SessionRecord>;
  /** Resolves when what the command changed is in the log. */
  command(sessionId: string, command: SessionCommand, from: Sender): Promise<CommandReply>;
  /** Everything after the cursor, or from the beginning, and then whatever comes. Ends with the signal. */
  subscribe(
    sessionId: string,
    cursor: Cursor | undefined,
    signal: AbortSignal,
  ): AsyncIterable<Batch>;
  find(sessionId: string): Promise<SessionRecord | undefined>;
  list(query: SessionQuery): Promise<SessionPage>;
  delete(sessionId: string): Promise<boolean>;
  /** The names of the agents that a session can be opened with; the first is the default. */
  readonly agents: readonly string[];
}

export interface OpenSession {
  /** Made by the caller: opening again under the same id gives the same session. */
  readonly sessionId?: string;
  readonly agent?: string;
  readonly principal: Principal;
  readonly title?: string;
  readonly workingDirectory?: string;
}

export interface Sender {
  readonly principal: Principal;
  readonly clientId?: string;
  /** The sender's own name for this command: sent again, it gets the reply that it got before. */
  readonly commandId?: string;
}
