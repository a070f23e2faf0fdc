import type {
  Client,
  HostOptions,
  ConnectionState,
  SessionNotification,
} from "../../host/index.ts";
import type { ChatSession, ChatSessionEvents } from "./session.ts";

/** Where a chat takes place: a terminal with somebody at it, or a pipe. */
export interface ChatUi extends ChatSessionEvents {
  showUpdate(notification: SessionNotification): void;
  /** Asks whoever is there. */
  readonly requestDecision: NonNullable<HostOptions["permission"]>;
  /** How the connection is. */
  showLinkState(state: ConnectionState): void;
  /** Who controls the session has changed. */
  showControlChange(isOwn: boolean): void;
  note(text: string): void;
  /** Resolves when there is something to open a session for; with false when there will be nothing. */
  hasPrompt(): Promise<boolean>;
  /** Takes what is said until the end; resolves with the exit code. */
  run(session: ChatSession, client: Client): Promise<number>;
  /** Nothing more is said. */
  close(last: string): void;
}
