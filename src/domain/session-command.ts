import type { ClientRole } from "./events/client-events.ts";
import type { InjectMode } from "./events/steering-events.ts";
import type { Reminder } from "./reminder.ts";
import type { SessionMetadata } from "./events/lifecycle-events.ts";
import type { ApprovalDecision } from "./policy/approval-decision.ts";
import type { PromptOptions, TextPart } from "./prompt.ts";
import type { WatchRequest } from "./outputs/file-watch.ts";
import type { Failure } from "./errors.ts";
import type { ImageBlock } from "./model/image-block.ts";
import type { JsonObject, JsonValue } from "../data/json.ts";
import type { ClientStatus } from "./live-client.ts";
import type { ModelMessage } from "./model/model-request.ts";
import type { SessionMode } from "./session-mode.ts";
import type { WorkerStatus } from "./workers/worker.ts";
import type { DelegateRequest } from "./workers/worker-request.ts";
import type { ToolResultPart } from "./tools/tool-call.ts";
import type { CompactionOptions } from "./transcript/compaction.ts";

/** A part of a submitted prompt. In the log, an image is a `PromptPart` which references a blob. */
export type SubmittedPart = TextPart | ImageBlock;

/** A client's request to a session. Every surface translates its protocol into these commands. */
export type SessionCommand<Part = SubmittedPart> =
  /** Starts a turn, or queues the prompt while a turn runs. */
  | {
      readonly type: "prompt";
      readonly content: readonly Part[];
      /** How many parts each message of `content` has. Absent: all parts are one message. */
      readonly messages?: readonly number[];
      readonly options?: PromptOptions;
      readonly note?: JsonObject;
      /** Log position of the last prompt known to the sender. The command is refused if a later prompt exists. */
      readonly expectedPromptSeq?: number;
    }
  /** Delivers the results a paused turn waits for: all of them, each once. */
  | {
      readonly type: "submit-results";
      readonly results: readonly SubmittedResult[];
      /** Text and images submitted along with the results. */
      readonly content?: readonly Part[];
      /** How many parts each message of `content` has. Absent: all parts are one message. */
      readonly messages?: readonly number[];
      readonly note?: JsonObject;
      readonly expectedPromptSeq?: number;
    }
  /** Adds a message to the running turn or to the queue. Without a running turn, the message starts a turn. */
  | {
      readonly type: "inject";
      readonly mode: InjectMode;
      readonly content: readonly Part[];
      /** Refuses the message if no turn is running. Default: it starts a turn. */
      readonly onlyIntoTurn?: true;
      /** Refuses the message if another turn, or none, is running. */
      readonly turnId?: string;
    }
  /** Changes the content of a message which is not delivered yet. */
  | {
      readonly type: "replace-inject";
      readonly messageId: string;
      readonly content: readonly Part[];
    }
  | { readonly type: "revoke-inject"; readonly messageId: string }
  /** `reminderId`: an id chosen by the sender, unique in the session. Absent: the session creates one. */
  | { readonly type: "remind"; readonly reminder: Reminder; readonly reminderId?: string }
  | { readonly type: "revoke-reminder"; readonly reminderId: string }
  /** Wakes an idle daemon without a message. */
  | { readonly type: "resume-daemon" }
  /** Replaces the older part of the conversation, at the next point without a running invocation or tool. */
  | { readonly type: "compact"; readonly options?: CompactionOptions }
  | { readonly type: "hide-prompt"; readonly promptId: string }
  | { readonly type: "withdraw-prompt"; readonly promptId: string }
  /** Cancels the running turn. With `turnId`, only if this turn is the running one. */
  | {
      readonly type: "cancel";
      readonly turnId?: string;
      /** Cancels only if no other client follows the session. The sender unsubscribes first. */
      readonly unlessWatched?: true;
      /** Number of subscribers which are only waiting for their own queued prompt; they do not count as followers. */
      readonly waitingReaders?: number;
    }
  /** Cancels a tool call of the running turn, which continues with an error result for the model. */
  | {
      readonly type: "cancel-tool-call";
      readonly toolCallId: string;
      /** For the model. */
      readonly reason?: string;
    }
  /** Decides an approval request or answers a question. Refused without `decision`, `approved` and `answer`. */
  | {
      readonly type: "decide-approval";
      readonly approvalId: string;
      readonly decision?: ApprovalDecision;
      /** A plain yes or no, in place of `decision`. */
      readonly approved?: boolean;
      /** The answer to a question of the agent, or the name of a decision. */
      readonly answer?: JsonValue;
      readonly reason?: string;
      /** The reviewer's name as stated by the client, for display. */
      readonly reviewer?: string;
      /** Replaces the arguments of the tool call. */
      readonly input?: JsonObject;
    }
  /** Replaces the workspace folders besides the working directory. */
  | { readonly type: "set-folders"; readonly folders: readonly string[] }
  /** Revokes a permanent grant. */
  | { readonly type: "revoke-grant"; readonly grantId: string }
  | {
      readonly type: "attach";
      readonly clientId: string;
      /** A `controller` is refused while another client is controller, unless `takeOver` is set. */
      readonly mode: ClientRole;
      readonly name: string;
      readonly takeOver?: boolean;
      /** Default: true for a controller, false for an observer. `ClientAttached` explains true for an observer. */
      readonly mayPrompt?: boolean;
      readonly mayApprove?: boolean;
      /** The client does not use the bridge protocol. */
      readonly isStock?: boolean;
      readonly metadata?: JsonObject;
      /**
       * Binds the client id to a secret: while the client is attached, only a sender with the same secret can attach
       * under this id.
       */
      readonly secretDigest?: string;
      readonly attachmentId?: string;
    }
  /** Confirms that a client is still connected. */
  | { readonly type: "heartbeat"; readonly clientId: string; readonly metadata?: JsonObject }
  | {
      readonly type: "detach";
      readonly clientId: string;
      readonly reason: string;
      /** The attachment to end. The command is refused if the client has attached again since. */
      readonly attachmentId?: string;
      /** Required from another client to detach a controller whose id is bound to a secret. */
      readonly secretDigest?: string;
    }
  | {
      readonly type: "submit-host-reply";
      readonly requestId: string;
      readonly outcome: "replied" | "failed";
      readonly payload?: JsonObject;
    }
  | { readonly type: "set-title"; readonly title: string }
  /** Replaces the session's metadata. A `title` entry also sets the session's title. */
  | { readonly type: "set-metadata"; readonly metadata: SessionMetadata }
  /** Adds messages from another conversation. The agent receives them before the next prompt. */
  | { readonly type: "add-history"; readonly messages: readonly ModelMessage[] }
  /** Starts a worker. The session neither waits for the worker nor receives its result in a turn. */
  | ({ readonly type: "delegate" } & Omit<DelegateRequest, "isBackground">)
  /** Starts the next cycle of a waiting worker. */
  | { readonly type: "trigger-worker"; readonly workerId: string; readonly payload: JsonValue }
  /** Cancels a worker. Accepted without effect if the worker has ended. */
  | { readonly type: "close-worker"; readonly workerId: string }
  /** Cancels the turn, drops waiting prompts and messages, and closes the workers: the session of a worker ends so. */
  | { readonly type: "end-work" }
  /** Subscribes the sender to changes of files. */
  | ({ readonly type: "watch-files" } & WatchRequest)
  | { readonly type: "unwatch-files"; readonly subscriptionId: string }
  /** Changes the session mode. */
  | { readonly type: "set-mode"; readonly mode: SessionMode };

/** Result of a command. A refused command changed nothing. */
export type CommandReply =
  | {
      readonly status: "accepted";
      readonly promptId?: string;
      /** The turn concerned by the command. Absent for a queued prompt. */
      readonly turnId?: string;
      /** Log position of the submitted prompt or results. */
      readonly seq?: number;
      /** Id of an injected message. */
      readonly messageId?: string;
      readonly deliveredAs?: DeliveredAs;
      readonly reminderId?: string;
      readonly compactionId?: string;
      /** Id of a subscription to changes of files. */
      readonly subscriptionId?: string;
      /** Result of a change of an injection. */
      readonly injectionStatus?: (typeof INJECTION_STATUSES)[number];
      /** Result of `cancel-tool-call`. */
      readonly toolCallStatus?: ToolCallStatus;
      /** The tool of a cancelled tool call. Absent if the running turn has no such tool call. */
      readonly toolName?: string;
      /** The worker of a command about workers, and its status after the command. */
      readonly workerId?: string;
      readonly workerStatus?: WorkerStatus;
      /** Present for commands about clients. */
      readonly clientStatus?: ClientStatus;
    }
  | { readonly status: "refused"; readonly failure: Failure };

/**
 * Where an injected message goes, as known when it is accepted:
 *
 * - `steer`: into the running turn, at its next injection point.
 * - `queue`: into a turn after the running one, also if the running turn has no injection point left.
 * - `turn`: into a turn which starts now.
 *
 * A turn that ends early, by a failure or a cancel, delivers its `steer` messages with the next turn.
 */
export type DeliveredAs = (typeof DELIVERIES)[number];

/** `not_found`: the running turn has no such tool call, or the call has its result. */
export type ToolCallStatus = (typeof TOOL_CALL_STATUSES)[number];

export const TOOL_CALL_STATUSES = ["cancelled", "already_cancelled", "not_found"] as const;
export const DELIVERIES = ["steer", "queue", "turn"] as const;
export const INJECTION_STATUSES = ["revoked", "already_revoked", "replaced"] as const;

/** Result of a tool call run by the prompter. `toolCallId` is the session's id of the call. */
export interface SubmittedResult {
  readonly toolCallId: string;
  readonly parts: readonly ToolResultPart[];
  readonly isError: boolean;
}
