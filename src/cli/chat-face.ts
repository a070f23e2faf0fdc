import type { Client, HostOptions, LinkState, SessionTold } from "../host/index.ts";
import type { ChatTalk, TalkEvents } from "./chat-talk.ts";

/** Where a chat takes place: a terminal with somebody at it, or a pipe. */
export interface ChatFace extends TalkEvents {
  told(told: SessionTold): void;
  /** Asks whoever is there. */
  readonly ask: NonNullable<HostOptions["permission"]>;
  /** How the connection is. */
  linked(state: LinkState): void;
  /** Who controls the session has changed. */
  controlled(isOwn: boolean): void;
  note(text: string): void;
  /** Resolves when there is something to open a session for; with false when there will be nothing. */
  hasPrompt(): Promise<boolean>;
  /** Takes what is said until the end; resolves with the exit code. */
  run(talk: ChatTalk, client: Client): Promise<number>;
  /** Nothing more is said. */
  close(last: string): void;
}
