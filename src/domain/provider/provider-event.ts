import type { Diagnostic } from "../diagnostic.ts";
import type { Failure } from "../errors.ts";
import type { ToolCall, ToolResult } from "../tools/tool-call.ts";
import type { Usage } from "../usage.ts";

/**
 * One event of a provider's stream in our own terms: the output of every fold, and the input of a session.
 *
 * A fold numbers each `message` and `block` in order of opening and never reuses a number within a stream, regardless
 * of the provider's indexes. The `….end` event of a block carries its whole text, so the deltas before it may be
 * dropped. A stream has exactly one `end` event, the last. A short turn:
 *
 * ```ts
 * { type: "message.start", message: 0, role: "assistant" }
 * { type: "text.delta", message: 0, block: 0, text: "Let me " }
 * { type: "text.end", message: 0, block: 0, text: "Let me look." }
 * { type: "tool.start", message: 0, block: 1, toolCallId: "t1", name: "read_file" }
 * { type: "tool.end", message: 0, block: 1, toolCall: { id: "t1", name: "read_file", … } }
 * { type: "message.end", message: 0, reason: "tool_use" }
 * { type: "end", outcome: "action-required", reason: "tool_use", openToolCallIds: ["t1"], usage: null }
 * ```
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

/** `other`: a role unknown to this version. The stream also reports the role as an `unknown` event. */
export type Role = "assistant" | "user" | "other";

export interface MessageStart {
  readonly type: "message.start";
  readonly message: number;
  readonly role: Role;
}

export interface MessageEnd {
  readonly type: "message.end";
  readonly message: number;
  /** The provider's reason string for the end of the message. Null if the stream has none. */
  readonly reason: string | null;
}

/** Withdraws all text of this message; `text` replaces it. */
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
  /** Set if the provider did not close this block; another event ended it. */
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
  /** The model's signature of its reasoning. Send it back unchanged, or omit the block. */
  readonly signature?: string;
  /** Reasoning encrypted by the provider, in base64. Such a block has no text. */
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

/** A complete tool call. If a provider repeats an id, the last call counts and keeps the position of the first. */
export interface ToolEnd extends BlockEnd {
  readonly type: "tool.end";
  readonly toolCall: ToolCall;
}

/** The result of a tool which ran at the provider. */
export interface ToolResultEvent extends BlockEnd {
  readonly type: "tool.result";
  readonly result: ToolResult;
}

/** Tokens of one model request. `end` has the sum of the turn. */
export interface UsageReported {
  readonly type: "usage";
  readonly usage: Usage;
  readonly latencyMs?: number;
}

export interface HookFired {
  readonly type: "hook";
  readonly id: string;
  readonly name: string;
  /** The provider's name for the moment at which the hook ran. */
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

/** An action of the agent which is not message content. Never mixed into a message. */
export interface ActivityEvent {
  readonly type: "activity";
  readonly kind: ActivityKind;
  readonly toolCallId?: string;
  /** The tool, node or agent concerned. For tools: the display name. */
  readonly label?: string;
  readonly raw?: unknown;
}

export interface DiagnosticRaised {
  readonly type: "diagnostic";
  readonly diagnostic: Diagnostic;
}

/** Input unknown to this version, stored unchanged. */
export interface UnknownEvent {
  readonly type: "unknown";
  readonly what: "event" | "start" | "delta" | "field" | "role" | "reason";
  readonly name: string;
  readonly raw: unknown;
}

export const OUTCOMES = ["completed", "action-required", "limited", "failed", "other"] as const;

/**
 * - `completed`: the agent is done.
 * - `action-required`: the tool calls in `openToolCallIds` wait for our results.
 * - `limited`: a budget, a filter or a policy stopped the turn; the content so far is valid.
 * - `failed`: an error, or a stream which stopped early; the content may be incomplete.
 * - `other`: a reason unknown to this version.
 */
export type Outcome = (typeof OUTCOMES)[number];

/** Always the last event of a stream, and always present. */
export interface TurnEnd {
  readonly type: "end";
  readonly outcome: Outcome;
  /** The provider's reason string. Null if the stream has none. */
  readonly reason: string | null;
  /**
   * Tool calls without a result which we must run, in order of first appearance. Empty if the turn was cut or limited:
   * the calls of such a turn may be incomplete.
   */
  readonly openToolCallIds: readonly string[];
  /** Sum over all model requests. Null if the stream reported none. */
  readonly usage: Usage | null;
  readonly failure?: Failure;
  /** The hook which stopped the turn. Absent if none did. */
  readonly stoppedBy?: { readonly hook: string; readonly reason?: string };
}
