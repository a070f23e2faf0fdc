import type { JsonObject } from "../../data/json.ts";
import type { WakeReason } from "./daemon-events.ts";
import type { QuiescePolicy } from "../agent-spec.ts";
import type { Diagnostic } from "../diagnostic.ts";
import type { Failure } from "../errors.ts";
import type { PromptOptions, PromptPart } from "../prompt.ts";
import type { ActivityKind, Outcome, Role, UnknownEvent } from "../provider/provider-event.ts";
import type { Usage } from "../usage.ts";

/** Events of the slice `turn`: prompts, turns, invocations and the provider's output. */
export type TurnEvent =
  | PromptAccepted
  | PromptWithdrawn
  | PromptHidden
  | TurnStarted
  | TurnFinished
  | TurnPaused
  | ToolResultsSubmitted
  | UpstreamOpened
  | UpstreamSettled
  | InvocationStarted
  | InvocationFinished
  | InvocationLost
  | MessageSent
  | MessageStarted
  | MessageFinished
  | MessageReplaced
  | TextDelta
  | TextFinished
  | ThoughtDelta
  | ThoughtFinished
  | UsageReported
  | HookFired
  | ProviderActivity
  | DiagnosticRaised
  | ProviderUnknown;

export interface PromptAccepted {
  readonly type: "prompt.accepted";
  readonly promptId: string;
  readonly content: readonly PromptPart[];
  /** How many parts each message of `content` has. Absent: all parts are one message. */
  readonly messages?: readonly number[];
  readonly options?: PromptOptions;
  /** Stored with the prompt for its sender. The session does not interpret the note. */
  readonly note?: JsonObject;
  /** The injected message which became this prompt. Absent for a submitted prompt. */
  readonly messageId?: string;
}

export interface PromptWithdrawn {
  readonly type: "prompt.withdrawn";
  readonly promptId: string;
  readonly reason: string;
}

/** The prompt stays in the log, but lookups by id report it as not found. */
export interface PromptHidden {
  readonly type: "prompt.hidden";
  readonly promptId: string;
}

export interface TurnStarted {
  readonly type: "turn.started";
  readonly turnId: string;
  /** Identifies the turn's input. A turn of a woken daemon has an id without a prompt. */
  readonly promptId: string;
  /** Why an idle daemon started a turn without a prompt. Absent for the turn of a prompt. */
  readonly wake?: WakeReason;
}

export interface TurnFinished {
  readonly type: "turn.finished";
  readonly turnId: string;
  readonly outcome: TurnOutcome;
  /**
   * A string from the provider or from the session: `max_steps`, `max_seconds`, `max_tokens` and `max_tool_calls` for a
   * cap; `budget_tokens`, `budget_seconds`, `budget_tool_calls`, `budget_invocations` and `budget_usd` for a budget that
   * was not extended; `no_terminal_tool` if the required last tool was not called; `results_missing` if the results of a paused turn
   * never arrived.
   */
  readonly reason: string | null;
  readonly usage: Usage | null;
  readonly steps: number;
  readonly failure?: Failure;
}

/**
 * - `completed`: the agent is done.
 * - `cancelled`: a client stopped the turn.
 * - `limited`: a cap of the session or a limit of the provider ended the turn; the content is valid.
 * - `failed`: an error; the content may be incomplete.
 */
export type TurnOutcome = "completed" | "cancelled" | "limited" | "failed";

/** The turn waits for the prompter to submit the results of these tool calls. */
export interface TurnPaused {
  readonly type: "turn.paused";
  readonly turnId: string;
  readonly toolCallIds: readonly string[];
}

/** The prompter submitted the results of a paused turn. Each result also has its own `tool.finished`. */
export interface ToolResultsSubmitted {
  readonly type: "tool_results.submitted";
  /** Identifies this submission, like the id of a prompt. */
  readonly promptId: string;
  readonly turnId: string;
  readonly toolCallIds: readonly string[];
  /** Text and images submitted along with the results. */
  readonly content?: readonly PromptPart[];
  /** How many parts each message of `content` has. Absent: all parts are one message. */
  readonly messages?: readonly number[];
  readonly note?: JsonObject;
}

/** A new conversation at the provider. `seeded`: it starts with the history from the log. */
export interface UpstreamOpened {
  readonly type: "upstream.opened";
  readonly upstreamId: string;
  readonly seeded: boolean;
}

export interface UpstreamSettled {
  readonly type: "upstream.settled";
  readonly upstreamId: string;
  readonly policy: QuiescePolicy;
}

export interface InvocationStarted {
  readonly type: "invocation.started";
  readonly invocationId: string;
  readonly upstreamId: string;
  readonly purpose: InvocationPurpose;
  /** The repeated invocation. Absent unless this is a retry. */
  readonly retryOf?: string;
}

/** `injection`: the turn continues because of an injected message or a reminder. */
export type InvocationPurpose = "prompt" | "results" | "recovery" | "reprompt" | "injection";

export interface InvocationFinished {
  readonly type: "invocation.finished";
  readonly invocationId: string;
  /** `refused`: no stream ever started. `cancelled`: the session closed the stream. */
  readonly outcome: Outcome | "refused" | "cancelled";
  readonly reason: string | null;
  readonly usage: Usage | null;
  readonly failure?: Failure;
  readonly requestId?: string;
}

/** The progress of the invocation is unknown. It is not repeated in the same upstream session. */
export interface InvocationLost {
  readonly type: "invocation.lost";
  readonly invocationId: string;
  readonly failure?: Failure;
}

/** A message to the agent, as sent to the provider. */
export interface MessageSent {
  readonly type: "message.sent";
  readonly messageId: string;
  readonly content: readonly PromptPart[];
  /**
   * - `instructions`: the instructions of a prompt, for a provider which accepts them only as text.
   * - `inject`: an injected message; `messageId` is its id since its acceptance.
   * - `wake`: tells an idle daemon to continue. Not a message of the user.
   * - `reminder`: the text of the reminders emitted before it. Not a message of the user.
   */
  readonly origin:
    | "prompt"
    | "instructions"
    | "recovery"
    | "reprompt"
    | "inject"
    | "reminder"
    | "wake";
  readonly promptId?: string;
}

/**
 * Shown to people in place of a recovery message (`message.sent` with origin `recovery`). The message itself is for the
 * agent: it repeats a whole prompt or tool results, which people have already seen.
 */
export const RECOVERY_NOTICE =
  "The agent's response was interrupted, so the bridge repeated the input the agent may have missed";

export interface MessageStarted {
  readonly type: "message.started";
  readonly messageId: string;
  readonly role: Role;
}

export interface MessageFinished {
  readonly type: "message.finished";
  readonly messageId: string;
  readonly reason: string | null;
  /** Cut off by a cancellation, a lost invocation or a failure. */
  readonly interrupted?: true;
}

export interface MessageReplaced {
  readonly type: "message.replaced";
  readonly messageId: string;
  readonly text: string;
}

export interface TextDelta extends BlockPosition {
  readonly type: "text.delta";
  readonly text: string;
}

export interface TextFinished extends BlockFinished {
  readonly type: "text.finished";
  readonly text: string;
}

export interface ThoughtDelta extends BlockPosition {
  readonly type: "thought.delta";
  readonly text: string;
}

export interface ThoughtFinished extends BlockFinished {
  readonly type: "thought.finished";
  readonly text: string;
  readonly signature?: string;
  readonly redacted?: string;
}

interface BlockPosition {
  readonly messageId: string;
  readonly block: number;
}

interface BlockFinished extends BlockPosition {
  readonly interrupted?: true;
}

export interface UsageReported {
  readonly type: "usage.reported";
  readonly usage: Usage;
  readonly latencyMs?: number;
}

export interface HookFired {
  readonly type: "hook.fired";
  readonly name: string;
  readonly stage: string;
  readonly decision?: string;
  readonly reason?: string;
}

export interface ProviderActivity {
  readonly type: "provider.activity";
  readonly kind: ActivityKind;
  readonly toolCallId?: string;
  readonly label?: string;
}

export interface DiagnosticRaised {
  readonly type: "diagnostic.raised";
  readonly diagnostic: Diagnostic;
}

export interface ProviderUnknown {
  readonly type: "provider.unknown";
  readonly what: UnknownEvent["what"];
  readonly name: string;
  readonly raw: unknown;
}
