import type { Actor } from "../../domain/actor.ts";
import type { InvocationPurpose } from "../../domain/events/turn-events.ts";
import type { ApprovalDecision } from "../../domain/policy/approval-decision.ts";
import type { ImagePart, PromptOptions, PromptPart } from "../../domain/prompt.ts";
import type { Failure } from "../../domain/errors.ts";
import type { Outcome, Role } from "../../domain/provider/provider-event.ts";
import type { ToolCall, ToolResult } from "../../domain/tools/tool-call.ts";
import type { TurnMessage } from "../../domain/provider/turn.ts";
import type { Usage } from "../../domain/usage.ts";

export interface TurnState {
  /** Prompts that wait for the turn that runs. */
  readonly queue: readonly QueuedPrompt[];
  readonly current: CurrentTurn | null;
  readonly upstream: Upstream | null;
  /** Under which the first conversation is to be on the provider's side, where that was said. */
  readonly firstUpstreamId: string | null;
  /** Something was said elsewhere before: the agent is told it first. */
  readonly isHistoryImported: boolean;
  /** The last instructions that the agent was sent as text. */
  readonly sentInstructions: string | null;
}

export interface QueuedPrompt {
  readonly promptId: string;
  readonly content: readonly PromptPart[];
  readonly options: PromptOptions | null;
  readonly submitter: Actor | null;
}

export interface CurrentTurn {
  readonly turnId: string;
  readonly promptId: string;
  readonly submitter: Actor | null;
  /** What its prompt asks for beside its text. */
  readonly options: PromptOptions | null;
  readonly startedAt: number;
  /** Milliseconds in which people were waited for, before the wait that `askedAt` began. */
  readonly waitedMs: number;
  /** When the first of the questions was asked that wait now; null while none does. */
  readonly waitingSince: number | null;
  /** How many questions wait; a pause is one of them. */
  readonly pendingWaits: number;
  /** Whoever prompted has these calls, and nothing else is left to do. */
  readonly pause: Pause | null;
  /** Calls of the provider so far. */
  readonly steps: number;
  readonly usage: Usage | null;
  /** Calls of tools that were started, however often. */
  readonly toolsStarted: number;
  readonly reprompts: number;
  /** How often the other side said that it is still busy with an earlier call. */
  readonly conflicts: number;
  /** Instructions that this turn sends as text. */
  readonly instructions: string | null;
  /** Said, and not yet on its way. */
  readonly unsentTexts: readonly string[];
  readonly unsentImages: readonly ImagePart[];
  readonly stage: Stage;
}

export interface Pause {
  readonly pausedAt: number;
  readonly toolCallIds: readonly string[];
}

/**
 * - `ready`: the next call can be made, once the other side is at rest.
 * - `calling`: a call is under way.
 * - `acting`: the agent waits for its tools.
 * - `lost`: a call is lost, and what follows is not decided, or not done.
 * - `ended`: the provider said its last.
 */
export type Stage =
  | { readonly type: "ready"; readonly purpose: InvocationPurpose }
  | { readonly type: "invoking"; readonly invocation: Invocation }
  | { readonly type: "running-tools" }
  | {
      readonly type: "invocation-lost";
      readonly invocation: Invocation;
      readonly failure?: Failure;
      readonly approvalId?: string;
      readonly decision?: ApprovalDecision;
    }
  | {
      readonly type: "ended";
      readonly outcome: Exclude<Outcome, "action-required"> | "refused" | "cancelled";
      readonly reason: string | null;
      readonly failure?: Failure;
    };

/** One call of the provider, and what its stream has said so far. */
export interface Invocation {
  readonly invocationId: string;
  readonly upstreamId: string;
  readonly purpose: InvocationPurpose;
  readonly outgoing: OutgoingContent;
  readonly messages: readonly ReceivedMessage[];
  /** Calls of tools that were closed while the stream still ran. */
  readonly closedToolCallIds: readonly string[];
}

/** What a call brings: only what is new. */
export interface OutgoingContent {
  readonly texts: readonly string[];
  readonly images?: readonly ImagePart[];
  /** The calls that it answers. */
  readonly toolResults: PendingToolCalls | null;
}

export interface ReceivedMessage {
  readonly messageId: string;
  readonly role: Role;
  readonly reason: string | null;
  readonly isFinished: boolean;
  /** Its text was withdrawn, and another stands for it. */
  readonly isReplaced: boolean;
  readonly blocks: readonly ReceivedBlock[];
}

export type ReceivedBlock = { readonly block: number; readonly isFinished: boolean } & (
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "thought";
      readonly text: string;
      readonly signature?: string;
      readonly redacted?: string;
    }
  | { readonly type: "tool-call"; readonly toolCallId: string; readonly toolCall: ToolCall | null }
  | { readonly type: "tool-result"; readonly result: ToolResult }
);

/** The conversation on the provider's side, as far as we know it. */
export interface Upstream {
  readonly upstreamId: string;
  readonly isSeeded: boolean;
  readonly openedAt: number;
  readonly usedAt: number;
  readonly invocationCount: number;
  /** The agent has answered something, so it has what the conversation began with. */
  readonly hasResponded: boolean;
  /** A call was cut: the other side may be working still, and may or may not have kept what it was told. */
  readonly isUncertain: boolean;
  /** Results that a call brought which was cut or failed: they may or may not be known there. */
  readonly unconfirmedResults: PendingToolCalls | null;
  /** What it waits for: the messages with its calls, and the results that are there. */
  readonly pendingToolCalls: PendingToolCalls | null;
}

export interface PendingToolCalls {
  readonly messages: readonly TurnMessage[];
  readonly toolCalls: readonly PendingToolCall[];
}

export interface PendingToolCall {
  readonly toolCallId: string;
  readonly toolCall: ToolCall;
  readonly result: ToolResult | null;
}

export const initialTurnState: TurnState = {
  queue: [],
  current: null,
  upstream: null,
  firstUpstreamId: null,
  isHistoryImported: false,
  sentInstructions: null,
};

/** There is something to be said that no call has brought. */
export function hasUnsentContent(current: CurrentTurn | null): boolean {
  return current !== null && (current.unsentTexts.length > 0 || current.unsentImages.length > 0);
}

export function withStage(turn: TurnState, current: CurrentTurn, stage: Stage): TurnState {
  return { ...turn, current: { ...current, stage } };
}

export function withUpstream(turn: TurnState, change: Partial<Upstream>): TurnState {
  if (turn.upstream === null) return turn;
  return { ...turn, upstream: { ...turn.upstream, ...change } };
}
