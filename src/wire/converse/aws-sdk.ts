import { SpanlineError } from "../../domain/errors.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import type { StreamMessage } from "../../domain/provider/stream-message.ts";
import { createConverseFold, type ConverseOptions } from "./fold.ts";
import { readUnionEvent } from "./parse.ts";
import type { ConverseContent, ConverseMessage, ReasoningContent } from "./converse-input.ts";

/** Messages as the AWS SDK takes them: redacted reasoning as bytes, which the SDK writes as base64 itself. */
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
      "Redacted reasoning is not base64; it cannot be sent back",
      { cause },
    );
  }
}

/**
 * Folds the stream that the AWS SDK hands out: decoded events, and exceptions that it throws in the middle. What it
 * throws ends the turn as failed, with everything that was said before.
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
