import type { PromptAccepted, ResultsGiven } from "../../domain/agent-event.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { imageNote } from "../../domain/image-block.ts";
import type { ModelBlock, ModelMessage } from "../../domain/model-request.ts";
import type { TraceMode } from "../../domain/trace-mode.ts";
import type { Place } from "./ids.ts";
import { inputItemsOf } from "./input-items.ts";
import {
  assistantMessageItem,
  functionCallItem,
  functionCallOutputItem,
  reasoningItem,
  userMessageItem,
} from "./items.ts";
import type { OutputItem } from "./output-item.ts";
import { readNote, unrecordedRequest } from "./recorded-request.ts";
import type { ResponseItem } from "./response-item.ts";
import { responseFrom } from "./stream/response-stream.ts";

export type ConversationItem = OutputItem | ResponseItem;

export interface ConversationView {
  /** Trace mode of responses that were not asked for here. */
  readonly trace: TraceMode;
  readonly isLeftOut: (asked: PromptAccepted | ResultsGiven) => boolean;
}

/** All that a session was asked and answered, from the oldest: the input and the output of every response in its log. */
export function conversationItems(
  envelopes: readonly Envelope[],
  { trace, isLeftOut }: ConversationView,
): ConversationItem[] {
  const withdrawn = new Set(
    envelopes.flatMap(({ event }) => (event.type === "prompt.withdrawn" ? [event.promptId] : [])),
  );
  return envelopes.flatMap(({ event, sessionId, seq }, at): readonly ConversationItem[] => {
    if (event.type === "history.given") return historyItems(event.messages, { sessionId, seq });
    if (event.type !== "prompt.accepted" && event.type !== "results.given") return [];
    if (withdrawn.has(event.promptId) || isLeftOut(event)) return [];
    const recorded = readNote(event.note) ?? unrecordedRequest("", trace);
    const response = responseFrom(startingAt(envelopes, at), recorded);
    return [...inputItemsOf(startingAt(envelopes, at)), ...(response?.output ?? [])];
  });
}

/** Not a copy: every piece stops reading where it ends. */
function* startingAt(envelopes: readonly Envelope[], at: number): Generator<Envelope> {
  for (let index = at; index < envelopes.length; index += 1) {
    const envelope = envelopes[index];
    if (envelope !== undefined) yield envelope;
  }
}

/** What was said before the session; calls have the ids that they came with. */
function historyItems(
  messages: readonly ModelMessage[],
  { sessionId: scope, seq }: Place,
): ResponseItem[] {
  const facts = { scope, status: "completed" } as const;
  return messages
    .flatMap(({ role, blocks }) => blocks.map((block) => ({ role, block })))
    .map(({ role, block }, index): ResponseItem => {
      const key = `${seq}-${index}`;
      switch (block.type) {
        case "call":
          return functionCallItem({ key, call: block.call }, facts);
        case "result":
          return functionCallOutputItem(
            { key, result: block.result },
            { ...facts, output: "text" },
          );
        case "reasoning":
          return reasoningItem({ ...block, key }, { ...facts, raw: false });
        case "text":
        case "image": {
          const said = { key, texts: [textIn(block)] };
          if (role === "user") return userMessageItem(said, facts);
          return assistantMessageItem(said, { ...facts, phase: "final_answer" });
        }
        default:
          return block satisfies never;
      }
    });
}

function textIn(block: Extract<ModelBlock, { readonly type: "text" | "image" }>): string {
  return block.type === "text" ? block.text : imageNote(block);
}
