import {
  createChatError,
  isChatError,
  type ChatToolCall,
  type ChatCompletion,
  type ChatDelta,
  type ChatError,
  type ChatAssistantMessage,
  type ChatOutput,
  type ChunkToolCall,
  type FinishReason,
} from "./chat-chunk.ts";
import type { ChatUsage } from "./chat-usage.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** An interrupted turn with the message so far. The chat completion format cannot express an interruption. */
export interface InterruptedCompletion extends ChatError {
  readonly partial: ChatAssistantMessage;
}

/** Builds the completion from the chunks of a stream, as a client would. */
export function collectCompletion(
  outputs: Iterable<ChatOutput>,
): ChatCompletion | InterruptedCompletion {
  let head: Pick<ChatCompletion, "id" | "created" | "model"> | undefined;
  let content = "";
  let reason: FinishReason | null = null;
  let usage: ChatUsage | null | undefined;
  let sessionId: ChatDelta["session_id"];
  let traced: ChatDelta["trace"];
  let broken: ChatError | undefined;
  const carried = new Map<string, unknown>();
  const calls: ChatToolCall[] = [];
  for (const output of outputs) {
    if (isChatError(output)) {
      broken = output;
      break;
    }
    const { id, created, model, choices } = output;
    head ??= { id, created, model };
    usage = output.usage ?? usage;
    for (const { delta, finish_reason } of choices) {
      const { role: _, content: piece = "", tool_calls = [], session_id, trace, ...more } = delta;
      for (const [name, value] of Object.entries(more)) carried.set(name, value);
      content += piece;
      calls.push(...tool_calls.map(toToolCall));
      sessionId = session_id ?? sessionId;
      traced = trace ?? traced;
      reason ??= finish_reason;
    }
  }
  const message = {
    ...Object.fromEntries(carried),
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...omitUndefined({ session_id: sessionId, trace: traced }),
  } as const;
  if (broken !== undefined) return { ...broken, partial: message };
  if (head === undefined || reason === null) {
    const error = createChatError("incomplete_turn", "The stream stopped before the turn ended");
    return { ...error, partial: message };
  }
  return {
    id: head.id,
    object: "chat.completion",
    created: head.created,
    model: head.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: reason }],
    ...(usage !== undefined && usage !== null && { usage }),
  };
}

function toToolCall({ id, type, function: functionCall }: ChunkToolCall): ChatToolCall {
  return { id, type, function: functionCall };
}
