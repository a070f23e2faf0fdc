import type { JsonObject } from "../../data/json.ts";
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
  /** The sender's own, to be found again beside the prompt. The session does not read it. */
  readonly note?: JsonObject;
}

export interface PromptWithdrawn {
  readonly type: "prompt.withdrawn";
  readonly promptId: string;
  readonly reason: string;
}

/** It is in the log, and whoever asks for it by its id is told that it is not. */
export interface PromptHidden {
  readonly type: "prompt.hidden";
  readonly promptId: string;
}

export interface TurnStarted {
  readonly type: "turn.started";
  readonly turnId: string;
  readonly promptId: string;
}

export interface TurnFinished {
  readonly type: "turn.finished";
  readonly turnId: string;
  readonly outcome: TurnOutcome;
  /**
   * The provider's word, or ours: `max_steps`, `max_seconds`, `max_tokens`, `max_tool_calls` for a cap, and
   * `no_terminal_tool` where the tool was not called that has to end a turn, `results_missing` where nobody brought what
   * it was paused for.
   */
  readonly reason: string | null;
  readonly usage: Usage | null;
  readonly steps: number;
  readonly failure?: Failure;
}

/**
 * - `completed`: the agent is done.
 * - `cancelled`: somebody stopped it.
 * - `limited`: a cap of ours, or a limit of the provider's, ended it; what was said is valid.
 * - `failed`: an error; what was said may be cut.
 */
export type TurnOutcome = "completed" | "cancelled" | "limited" | "failed";

/** Nothing is left to do in the turn until somebody brings the results of these calls. */
export interface TurnPaused {
  readonly type: "turn.paused";
  readonly turnId: string;
  readonly toolCallIds: readonly string[];
}

/** The results that a turn was paused for; each comes as a `tool.finished` of its own. */
export interface ToolResultsSubmitted {
  readonly type: "tool_results.submitted";
  /** Names this giving, as a prompt's id names a prompt. */
  readonly promptId: string;
  readonly turnId: string;
  readonly toolCallIds: readonly string[];
  /** Said beside the results. */
  readonly content?: readonly PromptPart[];
  /** How many parts each message of `content` has. Absent: all parts are one message. */
  readonly messages?: readonly number[];
  readonly note?: JsonObject;
}

/** A conversation on the provider's side; `seeded` when it begins with what the log has. */
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
  /** The call that is made again, where that is allowed. */
  readonly retryOf?: string;
}

export type InvocationPurpose = "prompt" | "results" | "recovery" | "reprompt";

export interface InvocationFinished {
  readonly type: "invocation.finished";
  readonly invocationId: string;
  /** `refused`: there never was a stream. `cancelled`: we closed it. */
  readonly outcome: Outcome | "refused" | "cancelled";
  readonly reason: string | null;
  readonly usage: Usage | null;
  readonly failure?: Failure;
  readonly requestId?: string;
}

/** Nobody knows how far it came. It is not made again in that conversation. */
export interface InvocationLost {
  readonly type: "invocation.lost";
  readonly invocationId: string;
  readonly failure?: Failure;
}

/** Something said to the agent, as it goes to the provider. */
export interface MessageSent {
  readonly type: "message.sent";
  readonly messageId: string;
  readonly content: readonly PromptPart[];
  /** `instructions`: those of a prompt, for an agent that takes them only as text. */
  readonly origin: "prompt" | "instructions" | "recovery" | "reprompt";
  readonly promptId?: string;
}

export interface MessageStarted {
  readonly type: "message.started";
  readonly messageId: string;
  readonly role: Role;
}

export interface MessageFinished {
  readonly type: "message.finished";
  readonly messageId: string;
  readonly reason: string | null;
  /** Cut off by a cancel, a lost call or a failure. */
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
