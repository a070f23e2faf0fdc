import { SpanlineError } from "../../domain/errors.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import type { StreamMessage } from "../../domain/provider/stream-message.ts";
import { createConverseFold, type ConverseOptions } from "./fold.ts";
import { readUnionEvent } from "./parse.ts";
import type { ConverseContent, ConverseMessage, ReasoningContent } from "./converse-input.ts";

/** Messages in the types of the AWS SDK: redacted reasoning is bytes, which the SDK encodes as base64. */
export interface SdkMessage {
  role: "user" | "assistant";
  content: SdkContent[];
}

export type SdkContent =
  | Exclude<ConverseContent, { reasoningContent: ReasoningContent }>
  | { reasoningContent: Exclude<ReasoningContent, { redactedContent: string }> }
  | { reasoningContent: { redactedContent: Uint8Array } };

export function toSdkMessages(messages: readonly ConverseMessage[]): SdkMessage[] {
  return messages.map(({ role, content }) => ({ role, content: content.map(toSdkContent) }));
}

function toSdkContent(block: ConverseContent): SdkContent {
  if (!("reasoningContent" in block)) return block;
  const { reasoningContent } = block;
  if (!("redactedContent" in reasoningContent)) return { reasoningContent };
  return { reasoningContent: { redactedContent: decodeBase64(reasoningContent.redactedContent) } };
}

function decodeBase64(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
  } catch (cause) {
    throw new SpanlineError(
      "invalid_message",
      "Redacted reasoning is not valid base64 and cannot be sent back",
      { cause },
    );
  }
}

/**
 * Folds the event stream of the AWS SDK: decoded events, and exceptions thrown while the stream is read. A thrown
 * exception ends the turn as failed; all events before the exception are kept.
 */
export async function* foldSdkStream(
  stream: AsyncIterable<unknown>,
  options: ConverseOptions = {},
): AsyncGenerator<ProviderEvent, void, undefined> {
  const fold = createConverseFold(options);
  const state = fold.initial();
  let out: ProviderEvent[] = [];
  const emit = (event: ProviderEvent): void => void out.push(event);
  try {
    for await (const event of stream) {
      for (const message of readUnionEvent(event)) fold.step(state, message, emit);
      yield* out;
      out = [];
    }
  } catch (error) {
    fold.step(state, toExceptionMessage(error), emit);
  }
  fold.finish(state, emit);
  yield* out;
}

function toExceptionMessage(error: unknown): StreamMessage {
  const { name, message } =
    error instanceof Error ? error : { name: "Error", message: String(error) };
  return { type: "exception", name, payload: { message } };
}
