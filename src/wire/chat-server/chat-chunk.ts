import type { Anomaly } from "../responses/anomaly.ts";
import type { ChatTraceItem } from "./chat-trace.ts";
import type { ChatUsage } from "./chat-usage.ts";

export type FinishReason = "stop" | "length" | "content_filter" | "tool_calls";

/** An item of a streamed chat completion. An error is always the last item. */
export type ChatOutput = ChatChunk | ChatError;

export interface ChatChunk {
  readonly id: string;
  readonly object: "chat.completion.chunk";
  readonly created: number;
  readonly model: string;
  /** Empty in the chunk with the usage. */
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
  /**
   * A Spanline extension, like `trace`. Clients keep unknown fields on the message and send them back with the message.
   */
  readonly session_id?: string;
  readonly tool_calls?: readonly ChunkToolCall[];
  /** Complete and sent once: clients keep only the last value of an unknown field. */
  readonly trace?: readonly ChatTraceItem[];
  /** A Spanline extension. Absent without anomalies. */
  readonly anomalies?: readonly Anomaly[];
  /** Fields attached by the client to the previous message. */
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

/** Creates an error which is not the client's fault (`server_error`). */
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
