import type { ClientMode, Decision, PromptPart } from "./agent-event.ts";
import type { Failure } from "./errors.ts";
import type { JsonObject } from "./json.ts";

/** What a client can ask of a session. Every surface translates its own protocol into these. */
export type SessionCommand =
  /** Starts a turn, or waits for the one that runs. */
  | { readonly type: "prompt"; readonly content: readonly PromptPart[] }
  | { readonly type: "withdraw"; readonly promptId: string }
  /** Ends the turn that runs, if it is the named one, or whichever it is. */
  | { readonly type: "cancel"; readonly turnId?: string }
  | {
      readonly type: "answer";
      readonly approvalId: string;
      readonly decision: Decision;
      readonly reason?: string;
      /** What the tool is to run with instead. */
      readonly input?: JsonObject;
    }
  /** Takes back what was allowed for good. */
  | { readonly type: "revoke"; readonly grantId: string }
  | {
      readonly type: "attach";
      readonly clientId: string;
      /** A controller is refused while there is another, unless it takes over. */
      readonly mode: ClientMode;
      readonly name: string;
      readonly takeOver?: boolean;
    }
  | { readonly type: "detach"; readonly clientId: string; readonly reason: string }
  | {
      readonly type: "answer-host";
      readonly requestId: string;
      readonly outcome: "answered" | "failed";
      readonly payload?: JsonObject;
    }
  | { readonly type: "title"; readonly title: string };

/** What came of a command. A refused one changed nothing. */
export type CommandReply =
  | {
      readonly status: "accepted";
      readonly promptId?: string;
      /** Of the turn that the command is about: absent for a prompt that waits. */
      readonly turnId?: string;
    }
  | { readonly status: "refused"; readonly failure: Failure };
