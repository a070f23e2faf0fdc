import type { Content, Message } from "../../brains/session-message.ts";
import type { UsageStep } from "../../brains/step.ts";
import type { PythonValue } from "./python-text.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

export interface MessageExtras {
  readonly usage: UsageStep | null;
  readonly trackingId: string;
}

/** A message in the format of Strands. Before July 2025 messages had neither usage nor an id. */
export function encodePythonMessage(
  { role, content }: Message,
  extras: MessageExtras | null,
): { readonly [name: string]: PythonValue } {
  return {
    role,
    content: content.map(encodePythonContent),
    ...(extras === null || extras.usage === null
      ? {}
      : { metadata: encodePythonUsage(extras.usage) }),
    ...(extras === null ? {} : { tracking_id: extras.trackingId }),
  };
}

function encodePythonUsage(usage: UsageStep): { readonly [name: string]: PythonValue } {
  return { usage: encodeTokenCounts(usage), metrics: { latencyMs: usage.latencyMilliseconds } };
}

export function encodeTokenCounts(usage: UsageStep): { readonly [name: string]: number } {
  const { inputTokens, outputTokens } = usage;
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

function encodePythonContent(block: Content): PythonValue {
  if ("toolUse" in block) {
    const { toolUseId, name, input } = block.toolUse;
    return { toolUse: { toolUseId, name, input: input as PythonValue } };
  }
  if ("toolResult" in block) {
    const { toolUseId, status = "success", content } = block.toolResult;
    return { toolResult: { toolUseId, status, content: content as readonly PythonValue[] } };
  }
  if ("text" in block) return { text: block.text };
  const { reasoningContent } = block;
  if ("redactedContent" in reasoningContent) {
    const bytes = new Uint8Array(Buffer.from(reasoningContent.redactedContent, "base64"));
    return { reasoningContent: { redactedContent: bytes } };
  }
  const { text, signature } = reasoningContent.reasoningText;
  return {
    reasoningContent: {
      reasoningText: { text, ...omitUndefined({ signature }) },
    },
  };
}
