import type { Anomaly } from "../responses/anomaly.ts";
import type { ChatTraceItem } from "./chat-trace.ts";
import type { ChatUsage } from "./chat-usage.ts";

export type FinishReason = "stop" | "length" | "content_filter" | "tool_calls";

/** What a stream of a chat completion is made of; an error is the last of it. */
export type ChatOutput = ChatChunk | ChatError;

export interface ChatChunk {
  readonly id: string;
  readonly object: "chat.completion.chunk";
  readonly created: number;
  readonly model: string;
  /** None in the chunk that brings the usage. */
  readonly choices: readonly ChunkChoice[];
  readonly usage?: ChatUsage | null;
}

export interface ChunkChoice {
  readonly index: 0;
  readonly delta: ChatDelta;
  readonly logprobs: null;
  readonly finish_reason: FinishReason | null;
}

export interface ChatDelta {
  readonly role?: "assistant";
  readonly content?: string;
  /** Ours, as `trace` is: clients put what they do not know on the message, and send it back with that. */
  readonly session_id?: string;
  readonly tool_calls?: readonly ChunkToolCall[];
  /** Whole and once: clients keep the last of a field that they do not know. */
  readonly trace?: readonly ChatTraceItem[];
  /** Ours: absent if there are none. */
  readonly anomalies?: readonly Anomaly[];
  /** What the client attached to the message before. */
  readonly [carried: string]: unknown;
}

export interface ChunkToolCall extends ChatToolCall {
  readonly index: number;
}

export interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ChatError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

/** Whoever asked did nothing wrong. */
export function createChatError(code: string, message: string): ChatError {
  return { error: { message, type: "server_error", param: null, code } };
}

export function isChatError<Output extends ChatOutput | ChatCompletion>(
  output: Output,
): output is Extract<Output, ChatError> {
  return "error" in output;
}

export interface ChatCompletion {
  readonly id: string;
  readonly object: "chat.completion";
  readonly created: number;
  readonly model: string;
  readonly choices: readonly [ChatChoice];
  readonly usage?: ChatUsage;
}

export interface ChatChoice {
  readonly index: 0;
  readonly message: ChatAssistantMessage;
  readonly logprobs: null;
  readonly finish_reason: FinishReason;
}

export interface ChatAssistantMessage {
  readonly role: "assistant";
  readonly content: string | null;
  readonly refusal: null;
  readonly tool_calls?: readonly ChatToolCall[];
  readonly session_id?: string;
  readonly trace?: readonly ChatTraceItem[];
  readonly [carried: string]: unknown;
}
