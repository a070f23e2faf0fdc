import type { Actor } from "../../domain/actor.ts";
import type {
  CallPurpose,
  Decision,
  ImagePart,
  PromptOptions,
  PromptPart,
} from "../../domain/agent-event.ts";
import type { Failure } from "../../domain/errors.ts";
import type { Outcome, Role } from "../../domain/provider-event.ts";
import type { ToolCall, ToolResult } from "../../domain/tool.ts";
import type { TurnMessage } from "../../domain/turn.ts";
import type { Usage } from "../../domain/usage.ts";

export interface TurnState {
  /** Prompts that wait for the turn that runs. */
  readonly queue: readonly QueuedPrompt[];
  readonly current: CurrentTurn | null;
  readonly upstream: Upstream | null;
  /** Under which the first conversation is to be on the provider's side, where that was said. */
  readonly firstUpstreamId: string | null;
  /** Something was said elsewhere before: the agent is told it first. */
  readonly isHistoryGiven: boolean;
  /** The last instructions that the agent was sent as text. */
  readonly sentInstructions: string | null;
}

export interface QueuedPrompt {
  readonly promptId: string;
  readonly content: readonly PromptPart[];
  readonly options: PromptOptions | null;
  readonly by: Actor | null;
}

export interface CurrentTurn {
  readonly turnId: string;
  readonly promptId: string;
  readonly by: Actor | null;
  /** What its prompt asks for beside its text. */
  readonly options: PromptOptions | null;
  readonly startedAt: number;
  /** Milliseconds in which people were waited for, before the wait that `askedAt` began. */
  readonly waitedMs: number;
  /** When the first of the questions was asked that wait now; null while none does. */
  readonly askedAt: number | null;
  /** How many questions wait; a pause is one of them. */
  readonly questions: number;
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
  readonly unsent: readonly string[];
  readonly unsentImages: readonly ImagePart[];
  readonly stage: Stage;
}

export interface Pause {
  readonly at: number;
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
  | { readonly type: "ready"; readonly purpose: CallPurpose }
  | { readonly type: "calling"; readonly call: Call }
  | { readonly type: "acting" }
  | {
      readonly type: "lost";
      readonly call: Call;
      readonly failure?: Failure;
      readonly approvalId?: string;
      readonly decision?: Decision;
    }
  | {
      readonly type: "ended";
      readonly outcome: Exclude<Outcome, "action-required"> | "refused" | "cancelled";
      readonly reason: string | null;
      readonly failure?: Failure;
    };

/** One call of the provider, and what its stream has said so far. */
export interface Call {
  readonly callId: string;
  readonly upstreamId: string;
  readonly purpose: CallPurpose;
  readonly outgoing: Outgoing;
  readonly messages: readonly SaidMessage[];
  /** Calls of tools that were closed while the stream still ran. */
  readonly closed: readonly string[];
}

/** What a call brings: only what is new. */
export interface Outgoing {
  readonly texts: readonly string[];
  readonly images?: readonly ImagePart[];
  /** The calls that it answers. */
  readonly answers: Waiting | null;
}

export interface SaidMessage {
  readonly messageId: string;
  readonly role: Role;
  readonly reason: string | null;
  readonly isFinished: boolean;
  /** Its text was withdrawn, and another stands for it. */
  readonly isReplaced: boolean;
  readonly blocks: readonly SaidBlock[];
}

export type SaidBlock = { readonly block: number; readonly isFinished: boolean } & (
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "thought";
      readonly text: string;
      readonly signature?: string;
      readonly redacted?: string;
    }
  | { readonly type: "call"; readonly toolCallId: string; readonly call: ToolCall | null }
  | { readonly type: "result"; readonly result: ToolResult }
);

/** The conversation on the provider's side, as far as we know it. */
export interface Upstream {
  readonly upstreamId: string;
  readonly isSeeded: boolean;
  readonly openedAt: number;
  readonly usedAt: number;
  readonly calls: number;
  /** The agent has answered something, so it has what the conversation began with. */
  readonly isHeard: boolean;
  /** A call was cut: the other side may be working still, and may or may not have kept what it was told. */
  readonly isUncertain: boolean;
  /** Results that a call brought which was cut or failed: they may or may not be known there. */
  readonly unheard: Waiting | null;
  /** What it waits for: the messages with its calls, and the results that are there. */
  readonly waiting: Waiting | null;
}

export interface Waiting {
  readonly messages: readonly TurnMessage[];
  readonly calls: readonly WaitingCall[];
}

export interface WaitingCall {
  readonly toolCallId: string;
  readonly call: ToolCall;
  readonly result: ToolResult | null;
}

export const initialTurnState: TurnState = {
  queue: [],
  current: null,
  upstream: null,
  firstUpstreamId: null,
  isHistoryGiven: false,
  sentInstructions: null,
};

/** There is something to be said that no call has brought. */
export function isSpeaking(current: CurrentTurn | null): boolean {
  return current !== null && (current.unsent.length > 0 || current.unsentImages.length > 0);
}

export function staged(turn: TurnState, current: CurrentTurn, stage: Stage): TurnState {
  return { ...turn, current: { ...current, stage } };
}

export function withUpstream(turn: TurnState, change: Partial<Upstream>): TurnState {
  if (turn.upstream === null) return turn;
  return { ...turn, upstream: { ...turn.upstream, ...change } };
}
