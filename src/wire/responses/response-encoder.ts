import type { Codec } from "../../domain/codec.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider/provider-event.ts";
import type { Anomaly } from "./anomaly.ts";
import { pairToolCalls } from "./items/pair-tool-calls.ts";
import { type Entry, groupEntries } from "./items/entries.ts";
import { resolveEntryStatus } from "./items/entry-status.ts";
import { formatItemId } from "./items/item-id.ts";
import {
  encodeFunctionCall,
  encodeFunctionCallOutput,
  encodeMessage,
  encodeOutputText,
  encodeReasoning,
} from "./items/encode-items.ts";
import type { AssistantMessageItem, ItemStatus, ResponseItem } from "./items/response-item.ts";
import { toResponseStatus, type ResponseStatus } from "./response-status.ts";
import { encodeResponseUsage, type ResponseUsage } from "./response-usage.ts";
import {
  addToTurn,
  blocksInOrder,
  createTurnBuilder,
  type TurnBuilder,
} from "../../domain/provider/turn-builder.ts";

export interface ResponseOptions {
  /** Names this one stream among all others, such as the id of its turn: every item id is made from it. */
  readonly scope: string;
  /** A tool's output as one text, the default, or as one part for each part of the result. */
  readonly output?: "text" | "parts";
  /** Whether reasoning is also given in its raw form. */
  readonly rawReasoning?: boolean;
  /** Whether a turn without a word of the assistant still ends with a message of it. */
  readonly emptyMessage?: boolean;
}

/** What the items of a turn come to. */
export type FinishedResponse = ResponseStatus & {
  readonly items: readonly ResponseItem[];
  readonly usage: ResponseUsage | null;
  readonly anomalies: readonly Anomaly[];
};

type Phase = AssistantMessageItem["phase"];

/**
 * Turns a provider's events into the finished items of an Open Responses output, in the order they were opened.
 *
 * Emits one response, at `finish`: until then a message may be replaced, a call may be repeated under its id, and
 * nobody knows which text was the answer.
 */
export function createResponseEncoder(
  options: ResponseOptions,
): Codec<TurnBuilder, ProviderEvent, FinishedResponse> {
  return {
    initial: createTurnBuilder,
    step: addToTurn,
    finish: (turn, emit) => emit(encodeFinishedResponse(turn, options)),
  };
}

/** The response to a whole list of events. */
export function encodeResponse(
  events: Iterable<ProviderEvent>,
  options: ResponseOptions,
): FinishedResponse {
  const turn = createTurnBuilder();
  for (const event of events) addToTurn(turn, event);
  return encodeFinishedResponse(turn, options);
}

/** What a turn comes to as it stands, for encoders that wrap the response into a shape of their own. */
export function encodeFinishedResponse(
  turn: TurnBuilder,
  options: ResponseOptions,
): FinishedResponse {
  const status = toResponseStatus(turn.end);
  const paired = pairToolCalls(blocksInOrder(turn), turn.end?.openToolCallIds ?? []);
  const { entries, anomalies } = groupEntries(paired.blocks, turn.messages);
  const phases = assignPhases(entries, turn.end);
  const items = entries.map((entry, index) => {
    const reason = turn.messages.get(entry.message)?.reason ?? null;
    const isLast = index === entries.length - 1;
    return encodeItem(entry, options, {
      status: resolveEntryStatus(entry, { response: status.status, isLast, reason }),
      phase: phases(entry, index),
    });
  });
  if (options.emptyMessage && !items.some(isAssistantReply))
    items.push(createEmptyMessage(options.scope, status.status, turn.end));
  return {
    ...status,
    items,
    usage: encodeResponseUsage(turn.end?.usage ?? null, turn.steps),
    anomalies: [...paired.anomalies, ...anomalies],
  };
}

/** The answer is what the last message of the assistant says after all tools; a turn that waits for us has none yet. */
function assignPhases(
  entries: readonly Entry[],
  end: TurnEnd | null,
): (entry: Entry, index: number) => Phase {
  const lastTool = entries.findLastIndex(
    ({ kind }) => kind === "tool-call" || kind === "tool-result",
  );
  const lastReply = entries.findLast(
    (entry) => entry.kind === "passage" && entry.role === "assistant",
  );
  const isWaiting = end?.outcome === "action-required";
  return (entry, index) =>
    !isWaiting && index > lastTool && entry.message === lastReply?.message
      ? "final_answer"
      : "commentary";
}

function encodeItem(
  entry: Entry,
  { scope, output = "text", rawReasoning = false }: ResponseOptions,
  { status, phase }: { readonly status: ItemStatus; readonly phase: Phase },
): ResponseItem {
  switch (entry.kind) {
    case "passage":
      return encodeMessage(entry, { scope, status, phase });
    case "tool-call":
      return encodeFunctionCall(entry, { scope, status });
    case "tool-result":
      return encodeFunctionCallOutput(entry, { scope, status, output });
    case "reasoning":
      return encodeReasoning(entry, { scope, status, raw: rawReasoning });
    default:
      return entry satisfies never;
  }
}

function isAssistantReply(item: ResponseItem): boolean {
  return item.type === "message" && item.role === "assistant";
}

function createEmptyMessage(
  scope: string,
  response: ResponseStatus["status"],
  end: TurnEnd | null,
): AssistantMessageItem {
  return {
    id: formatItemId("message", scope, "end"),
    type: "message",
    status: response === "completed" ? "completed" : "incomplete",
    role: "assistant",
    content: [encodeOutputText("")],
    phase: end?.outcome === "action-required" ? "commentary" : "final_answer",
  };
}
