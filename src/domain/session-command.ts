import type { ClientRole } from "./events/client-events.ts";
import type { SessionMetadata } from "./events/lifecycle-events.ts";
import type { ApprovalDecision } from "./policy/approval-decision.ts";
import type { PromptOptions, TextPart } from "./prompt.ts";
import type { Failure } from "./errors.ts";
import type { ImageBlock } from "./model/image-block.ts";
import type { JsonObject } from "../data/json.ts";
import type { ClientStatus } from "./live-client.ts";
import type { ModelMessage } from "./model/model-request.ts";
import type { SessionMode } from "./session-mode.ts";
import type { ToolResultPart } from "./tools/tool-call.ts";

/** What a client says in a prompt. In the log a picture is a `PromptPart` that names its bytes. */
export type SubmittedPart = TextPart | ImageBlock;

/** What a client can ask of a session. Every surface translates its own protocol into these. */
export type SessionCommand<Part = SubmittedPart> =
  /** Starts a turn, or waits for the one that runs. */
  | {
      readonly type: "prompt";
      readonly content: readonly Part[];
      /** How many parts each message of `content` has. Absent: all parts are one message. */
      readonly messages?: readonly number[];
      readonly options?: PromptOptions;
      readonly note?: JsonObject;
      /** Where the log has what was asked last, as far as the sender knows: refused if something was asked since. */
      readonly expectedPromptSeq?: number;
    }
  /** Brings the results that a paused turn waits for: all of them, each once. */
  | {
      readonly type: "submit-results";
      readonly results: readonly SubmittedResult[];
      /** Said beside the results. */
      readonly content?: readonly Part[];
      /** How many parts each message of `content` has. Absent: all parts are one message. */
      readonly messages?: readonly number[];
      readonly note?: JsonObject;
      readonly expectedPromptSeq?: number;
    }
  | { readonly type: "hide-prompt"; readonly promptId: string }
  | { readonly type: "withdraw-prompt"; readonly promptId: string }
  /** Ends the turn that runs, if it is the named one, or whichever it is. */
  | {
      readonly type: "cancel";
      readonly turnId?: string;
      /** Somebody else who follows the session keeps the turn alive. The sender stops following it first. */
      readonly unlessWatched?: true;
      /** How many of those who follow the session only wait for a turn of their own. */
      readonly waitingReaders?: number;
    }
  | {
      readonly type: "decide-approval";
      readonly approvalId: string;
      readonly decision: ApprovalDecision;
      readonly reason?: string;
      /** What the tool is to run with instead. */
      readonly input?: JsonObject;
    }
  /** These folders belong to the workspace, too, and no others but its own. */
  | { readonly type: "set-folders"; readonly folders: readonly string[] }
  /** Takes back what was allowed for good. */
  | { readonly type: "revoke-grant"; readonly grantId: string }
  | {
      readonly type: "attach";
      readonly clientId: string;
      /** A controller is refused while there is another, unless it takes over. */
      readonly mode: ClientRole;
      readonly name: string;
      readonly takeOver?: boolean;
      /** Default: a controller may do both and an observer neither. `ClientAttached` says what true means for an observer. */
      readonly mayPrompt?: boolean;
      readonly mayApprove?: boolean;
      /** The client does not use the bridge protocol. */
      readonly isStock?: boolean;
      readonly metadata?: JsonObject;
      /** Binds the client's id: while it is attached, nobody else comes under it. */
      readonly secretDigest?: string;
      readonly attachmentId?: string;
    }
  /** Says that a client is still there. */
  | { readonly type: "heartbeat"; readonly clientId: string; readonly metadata?: JsonObject }
  | {
      readonly type: "detach";
      readonly clientId: string;
      readonly reason: string;
      /** Of the stay that is to end; refused where the client has come back since. */
      readonly attachmentId?: string;
      /** Another client needs it to detach a controller whose id is bound to a secret. */
      readonly secretDigest?: string;
    }
  | {
      readonly type: "submit-host-reply";
      readonly requestId: string;
      readonly outcome: "replied" | "failed";
      readonly payload?: JsonObject;
    }
  | { readonly type: "set-title"; readonly title: string }
  /** Replaces the session's metadata. A `title` in it is the session's title. */
  | { readonly type: "set-metadata"; readonly metadata: SessionMetadata }
  /** Adds messages that were said elsewhere to what the agent is told before the next prompt. */
  | { readonly type: "add-history"; readonly messages: readonly ModelMessage[] }
  /** Puts the session into a mode. */
  | { readonly type: "set-mode"; readonly mode: SessionMode };

/** What came of a command. A refused one changed nothing. */
export type CommandReply =
  | {
      readonly status: "accepted";
      readonly promptId?: string;
      /** Of the turn that the command is about: absent for a prompt that waits. */
      readonly turnId?: string;
      /** Where the log has what was asked. */
      readonly seq?: number;
      /** Of a command about a client. */
      readonly clientStatus?: ClientStatus;
    }
  | { readonly status: "refused"; readonly failure: Failure };

/** The result of a call that was handed out, by the session's id of the call. */
export interface SubmittedResult {
  readonly toolCallId: string;
  readonly parts: readonly ToolResultPart[];
  readonly isError: boolean;
}
