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
  listBlocksInOrder,
  createTurnBuilder,
  type TurnBuilder,
} from "../../domain/provider/turn-builder.ts";

export interface ResponseOptions {
  /** Identifies the stream, for example by the id of its turn. All item ids derive from this value. */
  readonly scope: string;
  /** The output of a tool as one string, or as one part per part of the result. Default: `text`. */
  readonly output?: "text" | "parts";
  /** Whether reasoning is also included in raw form. Default: false. */
  readonly rawReasoning?: boolean;
  /** Whether a turn without assistant text ends with an empty assistant message. Default: false. */
  readonly emptyMessage?: boolean;
}

/** The items, status and usage of a finished turn. */
export type FinishedResponse = ResponseStatus & {
  readonly items: readonly ResponseItem[];
  readonly usage: ResponseUsage | null;
  readonly anomalies: readonly Anomaly[];
};

type Phase = AssistantMessageItem["phase"];

/**
 * Creates an encoder from provider events to the finished items of an Open Responses output, in the order of their
 * start.
 *
 * Emits one response at `finish`. Before, a message may be replaced, a tool call may be repeated with the same id, and
 * the final answer is unknown.
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

/** Encodes a complete list of events. */
export function encodeResponse(
  events: Iterable<ProviderEvent>,
  options: ResponseOptions,
): FinishedResponse {
  const turn = createTurnBuilder();
  for (const event of events) addToTurn(turn, event);
  return encodeFinishedResponse(turn, options);
}

/** Encodes the current state of a turn, for encoders which wrap the response in another format. */
export function encodeFinishedResponse(
  turn: TurnBuilder,
  options: ResponseOptions,
): FinishedResponse {
  const status = toResponseStatus(turn.end);
  const paired = pairToolCalls(listBlocksInOrder(turn), turn.end?.openToolCallIds ?? []);
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

/**
 * The final answer is the text of the last assistant message after all tools. A turn waiting for the client has none
 * yet.
 */
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
