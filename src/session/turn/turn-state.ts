import type { ChunkedList } from "../../data/chunked-list.ts";
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
  /** Prompts waiting for the running turn. */
  readonly queue: readonly QueuedPrompt[];
  readonly current: CurrentTurn | null;
  readonly upstream: Upstream | null;
  /** Requested id of the first upstream session. Null if none was requested. */
  readonly firstUpstreamId: string | null;
  /** True if messages of an earlier conversation must be sent to the agent first. */
  readonly isHistoryImported: boolean;
  /** Last instructions sent to the agent as text. Null if none. */
  readonly sentInstructions: string | null;
}

export interface QueuedPrompt {
  readonly promptId: string;
  /** Log position of its acceptance. */
  readonly seq: number;
  readonly content: readonly PromptPart[];
  readonly options: PromptOptions | null;
  readonly submitter: Actor | null;
}

export interface CurrentTurn {
  readonly turnId: string;
  readonly promptId: string;
  readonly submitter: Actor | null;
  /** Options of the prompt. Null if it has none. */
  readonly options: PromptOptions | null;
  readonly startedAt: number;
  /** Milliseconds spent waiting for people, excluding the wait since `waitingSince`. */
  readonly waitedMs: number;
  /** Start of the current wait for people. Null while there is none. */
  readonly waitingSince: number | null;
  /** Number of open waits: approval requests, and a pause. */
  readonly pendingWaits: number;
  /** Set while only tool calls of the prompter are open. */
  readonly pause: Pause | null;
  /** Invocations so far. */
  readonly steps: number;
  readonly usage: Usage | null;
  /** Tool calls started so far. Several attempts count once. */
  readonly toolsStarted: number;
  readonly reprompts: number;
  /** Number of invocations rejected because the provider was still busy. */
  readonly conflicts: number;
  /** Instructions sent as text in this turn. */
  readonly instructions: string | null;
  /** Content not yet sent with an invocation. */
  readonly unsentTexts: ChunkedList<string>;
  readonly unsentImages: readonly ImagePart[];
  readonly stage: Stage;
}

export interface Pause {
  readonly pausedAt: number;
  readonly toolCallIds: readonly string[];
}

/**
 * The stage of a turn. `advance-turn.ts` shows the transitions.
 *
 * - `ready`: the next invocation can start once the upstream session has settled.
 * - `invoking`: an invocation is running.
 * - `running-tools`: the provider waits for tool results.
 * - `invocation-lost`: an invocation was lost, and its handling is not decided or not started.
 * - `ended`: the provider has finished; the turn ends unless a reprompt follows.
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

/** An invocation with the content received so far. */
export interface Invocation {
  readonly invocationId: string;
  readonly upstreamId: string;
  readonly purpose: InvocationPurpose;
  readonly outgoing: OutgoingContent;
  readonly messages: readonly ReceivedMessage[];
  /** Tool calls closed while the stream was still running. */
  readonly closedToolCallIds: readonly string[];
}

/** Ids derive from the invocation id and the number in the stream, so a replay creates the same ids. */
export function createMessageId({ invocationId }: Invocation, message: number): string {
  return `msg_${invocationId.slice("inv_".length)}_${message}`;
}

export function createToolCallId({ invocationId }: Invocation, block: number): string {
  return `tool_${invocationId.slice("inv_".length)}_${block}`;
}

/** The new content sent with an invocation, since the previous one. */
export interface OutgoingContent {
  readonly texts: readonly string[];
  readonly images?: readonly ImagePart[];
  /** The tool calls answered by this invocation, with their results. */
  readonly toolResults: PendingToolCalls | null;
}

export interface ReceivedMessage {
  readonly messageId: string;
  readonly role: Role;
  readonly reason: string | null;
  readonly isFinished: boolean;
  /** Its text was withdrawn and replaced. */
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

/** The conversation at the provider, as far as the session knows. */
export interface Upstream {
  readonly upstreamId: string;
  readonly isSeeded: boolean;
  readonly openedAt: number;
  readonly usedAt: number;
  readonly invocationCount: number;
  /** The agent has responded at least once, so it has the seeded history. */
  readonly hasResponded: boolean;
  /** An invocation was cut: the provider may still be working, and may or may not have kept its input. */
  readonly isUncertain: boolean;
  /** Results sent with an invocation which was cut or failed: the provider may not have them. */
  readonly unconfirmedResults: PendingToolCalls | null;
  /** Tool calls for which the provider waits: their messages, and the results so far. */
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

/** Whether content is waiting for the next invocation. */
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
