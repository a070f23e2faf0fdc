import type { PromptAccepted, ToolResultsSubmitted } from "../../../domain/events/turn-events.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { formatImageNote } from "../../../domain/model/image-block.ts";
import type { ModelBlock, ModelMessage } from "../../../domain/model/model-request.ts";
import type { TraceMode } from "../../../domain/responses-settings.ts";
import type { LogPosition } from "../../../domain/events/log-position.ts";
import { encodeInputItems } from "./input-items.ts";
import {
  encodeAssistantMessage,
  encodeFunctionCall,
  encodeFunctionCallOutput,
  encodeReasoning,
  encodeUserMessage,
} from "./encode-items.ts";
import type { OutputItem } from "./output-item.ts";
import { decodeNote, createUnrecordedRequest } from "../recorded-request.ts";
import type { ResponseItem } from "./response-item.ts";
import { foldResponse } from "../stream/response-stream.ts";

export type ConversationItem = OutputItem | ResponseItem;

export interface ConversationView {
  /** Trace mode for responses without a recorded trace mode. */
  readonly trace: TraceMode;
  readonly isExcluded: (asked: PromptAccepted | ToolResultsSubmitted) => boolean;
}

/**
 * Encodes the items of a conversation, oldest first: the input and the output of every response in the log of a
 * session.
 */
export function encodeConversationItems(
  envelopes: readonly Envelope[],
  { trace, isExcluded }: ConversationView,
): ConversationItem[] {
  const withdrawnPromptIds = new Set(
    envelopes.flatMap(({ event }) => (event.type === "prompt.withdrawn" ? [event.promptId] : [])),
  );
  return envelopes.flatMap(({ event, sessionId, seq }, at): readonly ConversationItem[] => {
    if (event.type === "history.imported")
      return encodeHistoryItems(event.messages, { sessionId, seq });
    if (event.type !== "prompt.accepted" && event.type !== "tool_results.submitted") return [];
    if (withdrawnPromptIds.has(event.promptId) || isExcluded(event)) return [];
    const recorded = decodeNote(event.note) ?? createUnrecordedRequest("", trace);
    const response = foldResponse(iterateFrom(envelopes, at), recorded);
    return [...encodeInputItems(iterateFrom(envelopes, at)), ...(response?.output ?? [])];
  });
}

/** A generator instead of a copy: each reader stops at the end of its response. */
function* iterateFrom(envelopes: readonly Envelope[], at: number): Generator<Envelope> {
  for (let index = at; index < envelopes.length; index += 1) {
    const envelope = envelopes[index];
    if (envelope !== undefined) yield envelope;
  }
}

/** Encodes imported history. Tool calls keep their original ids. */
export function encodeHistoryItems(
  messages: readonly ModelMessage[],
  { sessionId: scope, seq }: LogPosition,
): ResponseItem[] {
  const facts = { scope, status: "completed" } as const;
  return messages
    .flatMap(({ role, blocks }) => blocks.map((block) => ({ role, block })))
    .map(({ role, block }, index): ResponseItem => {
      const key = `${seq}-${index}`;
      switch (block.type) {
        case "tool-call":
          return encodeFunctionCall({ key, toolCall: block.toolCall }, facts);
        case "tool-result":
          return encodeFunctionCallOutput(
            { key, result: block.result },
            { ...facts, output: "text" },
          );
        case "reasoning":
          return encodeReasoning({ ...block, key }, { ...facts, raw: false });
        case "text":
        case "image": {
          const message = { key, texts: [toItemText(block)] };
          if (role === "user") return encodeUserMessage(message, facts);
          return encodeAssistantMessage(message, { ...facts, phase: "final_answer" });
        }
        default:
          return block satisfies never;
      }
    });
}

function toItemText(block: Extract<ModelBlock, { readonly type: "text" | "image" }>): string {
  return block.type === "text" ? block.text : formatImageNote(block);
}
