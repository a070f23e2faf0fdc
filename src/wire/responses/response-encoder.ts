import type { Codec } from "../../domain/codec.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider-event.ts";
import type { Anomaly } from "./anomaly.ts";
import { pairCalls } from "./call-pairs.ts";
import { type Entry, entriesOf } from "./entries.ts";
import { entryStatus } from "./entry-status.ts";
import { itemId } from "./item-id.ts";
import {
  functionCallItem,
  functionCallOutputItem,
  messageItem,
  outputTextPart,
  reasoningItem,
} from "./items.ts";
import type { AssistantMessageItem, ItemStatus, ResponseItem } from "./response-item.ts";
import { responseStatus, type ResponseStatus } from "./response-status.ts";
import { responseUsage, type ResponseUsage } from "./response-usage.ts";
import { addToTurn, blocksInOrder, initialTurn, type TurnState } from "../../domain/turn-state.ts";

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
export function responseEncoder(
  options: ResponseOptions,
): Codec<TurnState, ProviderEvent, FinishedResponse> {
  return {
    initial: initialTurn,
    step: addToTurn,
    finish: (turn, emit) => emit(finishedResponse(turn, options)),
  };
}

/** The response to a whole list of events. */
export function responseOf(
  events: Iterable<ProviderEvent>,
  options: ResponseOptions,
): FinishedResponse {
  const turn = initialTurn();
  for (const event of events) addToTurn(turn, event);
  return finishedResponse(turn, options);
}

/** What a turn comes to as it stands, for encoders that wrap the response into a shape of their own. */
export function finishedResponse(turn: TurnState, options: ResponseOptions): FinishedResponse {
  const status = responseStatus(turn.end);
  const paired = pairCalls(blocksInOrder(turn), turn.end?.openCalls ?? []);
  const { entries, anomalies } = entriesOf(paired.blocks, turn.messages);
  const phases = phasesOf(entries, turn.end);
  const items = entries.map((entry, index) => {
    const reason = turn.messages.get(entry.message)?.reason ?? null;
    const isLast = index === entries.length - 1;
    return itemOf(entry, options, {
      status: entryStatus(entry, { response: status.status, isLast, reason }),
      phase: phases(entry, index),
    });
  });
  if (options.emptyMessage && !items.some(isReply))
    items.push(emptyMessage(options.scope, status.status, turn.end));
  return {
    ...status,
    items,
    usage: responseUsage(turn.end?.usage ?? null, turn.steps),
    anomalies: [...paired.anomalies, ...anomalies],
  };
}

/** The answer is what the last message of the assistant says after all tools; a turn that waits for us has none yet. */
function phasesOf(
  entries: readonly Entry[],
  end: TurnEnd | null,
): (entry: Entry, index: number) => Phase {
  const lastTool = entries.findLastIndex(({ kind }) => kind === "call" || kind === "result");
  const lastReply = entries.findLast(
    (entry) => entry.kind === "passage" && entry.role === "assistant",
  );
  const isWaiting = end?.outcome === "action-required";
  return (entry, index) =>
    !isWaiting && index > lastTool && entry.message === lastReply?.message
      ? "final_answer"
      : "commentary";
}

function itemOf(
  entry: Entry,
  { scope, output = "text", rawReasoning = false }: ResponseOptions,
  { status, phase }: { readonly status: ItemStatus; readonly phase: Phase },
): ResponseItem {
  switch (entry.kind) {
    case "passage":
      return messageItem(entry, { scope, status, phase });
    case "call":
      return functionCallItem(entry, { scope, status });
    case "result":
      return functionCallOutputItem(entry, { scope, status, output });
    case "reasoning":
      return reasoningItem(entry, { scope, status, raw: rawReasoning });
    default:
      return entry satisfies never;
  }
}

function isReply(item: ResponseItem): boolean {
  return item.type === "message" && item.role === "assistant";
}

function emptyMessage(
  scope: string,
  response: ResponseStatus["status"],
  end: TurnEnd | null,
): AssistantMessageItem {
  return {
    id: itemId("message", scope, "end"),
    type: "message",
    status: response === "completed" ? "completed" : "incomplete",
    role: "assistant",
    content: [outputTextPart("")],
    phase: end?.outcome === "action-required" ? "commentary" : "final_answer",
  };
}
