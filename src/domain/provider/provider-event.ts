import type { Diagnostic } from "../diagnostic.ts";
import type { Failure } from "../errors.ts";
import type { ToolCall, ToolResult } from "../tools/tool-call.ts";
import type { Usage } from "../usage.ts";

/**
 * What a provider's stream says, in our words: the output of every fold, and only ever input to a session.
 *
 * `message` and `block` are numbers that the fold hands out in order of opening and never reuses within one stream,
 * whatever indexes the provider used. A block's `…end` carries the whole text, so the deltas before it may be dropped.
 */
export type ProviderEvent =
  | MessageStart
  | MessageEnd
  | MessageReplaced
  | TextDelta
  | TextEnd
  | ReasoningDelta
  | ReasoningEnd
  | ToolStart
  | ToolDelta
  | ToolEnd
  | ToolResultEvent
  | UsageReported
  | HookFired
  | ActivityEvent
  | DiagnosticRaised
  | UnknownEvent
  | TurnEnd;

/** `other` is a role that this version does not know; the stream also carries it as `unknown`. */
export type Role = "assistant" | "user" | "other";

export interface MessageStart {
  readonly type: "message.start";
  readonly message: number;
  readonly role: Role;
}

export interface MessageEnd {
  readonly type: "message.end";
  readonly message: number;
  /** The provider's own word for why the message stopped; null when the stream never said. */
  readonly reason: string | null;
}

/** What was shown of this message so far is withdrawn; `text` stands in its place. */
export interface MessageReplaced {
  readonly type: "message.replaced";
  readonly message: number;
  readonly text: string;
}

interface BlockPosition {
  readonly message: number;
  readonly block: number;
}

interface BlockEnd extends BlockPosition {
  /** The provider never closed this block; something else did. */
  readonly implicitStop?: true;
}

export interface TextDelta extends BlockPosition {
  readonly type: "text.delta";
  readonly text: string;
}

export interface TextEnd extends BlockEnd {
  readonly type: "text.end";
  readonly text: string;
}

export interface ReasoningDelta extends BlockPosition {
  readonly type: "reasoning.delta";
  readonly text: string;
}

export interface ReasoningEnd extends BlockEnd {
  readonly type: "reasoning.end";
  readonly text: string;
  /** The model's seal over its own reasoning: goes back unchanged or not at all. */
  readonly signature?: string;
  /** Reasoning that the provider encrypted, in base64. Such a block has no text. */
  readonly redacted?: string;
}

export interface ToolStart extends BlockPosition {
  readonly type: "tool.start";
  readonly toolCallId: string;
  readonly name: string;
}

export interface ToolDelta extends BlockPosition {
  readonly type: "tool.delta";
  readonly toolCallId: string;
  readonly text: string;
}

/** A call in full. When a provider repeats an id, the last one counts and keeps the place of the first. */
export interface ToolEnd extends BlockEnd {
  readonly type: "tool.end";
  readonly toolCall: ToolCall;
}

/** The result of a tool that ran on the provider's side. */
export interface ToolResultEvent extends BlockEnd {
  readonly type: "tool.result";
  readonly result: ToolResult;
}

/** Tokens of one model call. The turn's sum is in `end`. */
export interface UsageReported {
  readonly type: "usage";
  readonly usage: Usage;
  readonly latencyMs?: number;
}

export interface HookFired {
  readonly type: "hook";
  readonly id: string;
  readonly name: string;
  /** When it ran, in the provider's word. */
  readonly stage: string;
  readonly decision?: string;
  readonly reason?: string;
}

export type ActivityKind =
  | "turn-started"
  | "cycle-started"
  | "tool-call-opened"
  | "tool-progress"
  | "tool-cancelled"
  | "interrupted"
  | "retry-wait"
  | "structured-result"
  | "node";

/** Something the agent did that is not part of what it says. Never mixed into a message. */
export interface ActivityEvent {
  readonly type: "activity";
  readonly kind: ActivityKind;
  readonly toolCallId?: string;
  /** The tool, node or agent it is about; for tools the name people read. */
  readonly label?: string;
  readonly raw?: unknown;
}

export interface DiagnosticRaised {
  readonly type: "diagnostic";
  readonly diagnostic: Diagnostic;
}

/** Something that this version does not know, kept as it came. */
export interface UnknownEvent {
  readonly type: "unknown";
  readonly what: "event" | "start" | "delta" | "field" | "role" | "reason";
  readonly name: string;
  readonly raw: unknown;
}

export const OUTCOMES = ["completed", "action-required", "limited", "failed", "other"] as const;

/**
 * - `completed`: the agent is done.
 * - `action-required`: the calls in `openToolCallIds` wait for our results.
 * - `limited`: a budget, a filter or a policy stopped it; what was said is valid.
 * - `failed`: an error, or a stream that stopped before its end; what was said may be cut.
 * - `other`: a reason that this version does not know.
 */
export type Outcome = (typeof OUTCOMES)[number];

/** Always the last event, and always there. */
export interface TurnEnd {
  readonly type: "end";
  readonly outcome: Outcome;
  /** The provider's own word; null when the stream never said. */
  readonly reason: string | null;
  /**
   * Calls without a result that are ours to run, in the order they were first seen. Empty when the turn was cut or
   * limited: what such a turn wanted to call may not be all that it meant to say.
   */
  readonly openToolCallIds: readonly string[];
  /** The sum over all model calls; null when the stream reported none. */
  readonly usage: Usage | null;
  readonly failure?: Failure;
  /** The hook that stopped the turn. */
  readonly stoppedBy?: { readonly hook: string; readonly reason?: string };
}
