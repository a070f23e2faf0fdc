import type {
  Client,
  HostOptions,
  ConnectionState,
  SessionNotification,
} from "../../host/index.ts";
import type { ChatSession, ChatSessionEvents } from "./session.ts";

/** The user interface of a chat: a terminal with a person, or a pipe. */
export interface ChatUi extends ChatSessionEvents {
  showUpdate(notification: SessionNotification): void;
  /** Requests a decision from the user. */
  readonly requestDecision: NonNullable<HostOptions["permission"]>;
  /** Requests an answer to a question of the agent from the user. */
  readonly requestAnswer: NonNullable<HostOptions["question"]>;
  /** Shows the state of the connection. */
  showLinkState(state: ConnectionState): void;
  /** Called when the controller has changed. */
  showControlChange(isOwn: boolean): void;
  note(text: string): void;
  /**
   * Resolves with true when a prompt is available, so a session is worth opening, or with false if the input has ended.
   */
  hasPrompt(): Promise<boolean>;
  /** Handles input until the end. Resolves with the exit code. */
  run(session: ChatSession, client: Client): Promise<number>;
  /** Ends the output after a last message. */
  close(last: string): void;
}
