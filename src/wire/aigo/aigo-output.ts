import type { Codec } from "../../domain/codec.ts";
import type { JsonObject } from "../../data/json.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import type { Anomaly } from "../responses/anomaly.ts";
import { formatItemId } from "../responses/items/item-id.ts";
import { encodeOutputText } from "../responses/items/encode-items.ts";
import { type FinishedResponse, encodeFinishedResponse } from "../responses/response-encoder.ts";
import type {
  FunctionCallItem,
  FunctionCallOutputItem,
  ItemStatus,
  OutputText,
  ResponseItem,
} from "../responses/items/response-item.ts";
import type { IncompleteDetails, ResponseError } from "../responses/response-status.ts";
import {
  addToTurn,
  createTurnBuilder,
  type TurnBuilder,
} from "../../domain/provider/turn-builder.ts";

export interface AigoOptions {
  /** Identifies the turn. All item ids derive from this value. */
  readonly scope: string;
  /** Set on the assistant message and returned unchanged by the client with the next turn. */
  readonly sessionId: string;
  /** Client state copied to the message, next to the session id. Never overrides a field of the message itself. */
  readonly state?: JsonObject;
  /** Fields of the request without effect. */
  readonly ignored?: readonly string[];
  /** Facts which the items cannot express, in addition to the anomalies found in the events. */
  readonly anomalies?: readonly Anomaly[];
}

/**
 * The output of one turn for AI GO!: the trace, with the single assistant message last. LatticeFlow's models accept
 * these three item types and reject a whole turn with any other type, so reasoning is omitted.
 */
export interface AigoOutput {
  readonly items: readonly (AigoTraceItem | AigoMessage)[];
  readonly usage: { readonly num_prompt_tokens: number; readonly num_completion_tokens: number };
}

export type AigoTraceItem = FunctionCallItem | FunctionCallOutputItem;

export interface AigoMessage {
  readonly id: string;
  readonly type: "message";
  readonly status: ItemStatus;
  readonly role: "assistant";
  readonly content: readonly [OutputText];
  readonly session_id: string;
  /** The items and texts in their real order. Present only if the message joins more than one text. */
  readonly trace?: readonly AigoTraceStep[];
  readonly incomplete_details?: IncompleteDetails;
  readonly error?: ResponseError;
  readonly anomalies?: readonly Anomaly[];
  readonly ignored?: readonly string[];
}

export type AigoTraceStep =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "item"; readonly id: string };

/** Creates an encoder for one turn. The output is emitted at `finish`. */
export function createAigoEncoder(
  options: AigoOptions,
): Codec<TurnBuilder, ProviderEvent, AigoOutput> {
  return {
    initial: createTurnBuilder,
    step: addToTurn,
    finish: (turn, emit) => emit(encodeTurn(turn, options)),
  };
}

/** Encodes a complete list of events. */
export function encodeAigoOutput(
  events: Iterable<ProviderEvent>,
  options: AigoOptions,
): AigoOutput {
  const turn = createTurnBuilder();
  for (const event of events) addToTurn(turn, event);
  return encodeTurn(turn, options);
}

function encodeTurn(turn: TurnBuilder, options: AigoOptions): AigoOutput {
  const { scope, anomalies = [] } = options;
  const finished = encodeFinishedResponse(turn, { scope });
  const response = { ...finished, anomalies: [...anomalies, ...finished.anomalies] };
  return encodeAigoResponse(response, {
    ...options,
    messageId: formatItemId("message", scope, "end"),
  });
}

export interface AigoMessageFields extends Pick<AigoOptions, "sessionId" | "state" | "ignored"> {
  readonly messageId: string;
}

/** Encodes the output from the finished items of a turn. */
export function encodeAigoResponse(
  response: FinishedResponse,
  facts: AigoMessageFields,
): AigoOutput {
  return {
    items: [...response.items.filter(isTraceItem), encodeMessage(response, facts)],
    usage: {
      num_prompt_tokens: response.usage?.input_tokens ?? 0,
      num_completion_tokens: response.usage?.output_tokens ?? 0,
    },
  };
}

function isTraceItem(item: ResponseItem): item is AigoTraceItem {
  return item.type === "function_call" || item.type === "function_call_output";
}

/** Scorers look up assistant messages by turn, so each turn has exactly one, regardless of its text and its end. */
function encodeMessage(
  { items, status, incomplete_details, error, anomalies }: FinishedResponse,
  { messageId, sessionId, state = {}, ignored = [] }: AigoMessageFields,
): AigoMessage {
  const steps = items.flatMap(encodeTraceSteps);
  const pieces = steps.filter((step) => step.type === "text").map(({ text }) => text);
  const oddities = [...anomalies, ...items.flatMap(listUserTextAnomalies)];
  return {
    ...state,
    id: messageId,
    type: "message",
    status: status === "completed" ? "completed" : "incomplete",
    role: "assistant",
    content: [encodeOutputText(pieces.join("\n\n"))],
    session_id: sessionId,
    ...(pieces.length > 1 && { trace: steps }),
    ...(incomplete_details && { incomplete_details }),
    ...(error && { error }),
    ...(oddities.length > 0 && { anomalies: oddities }),
    ...(ignored.length > 0 && { ignored }),
  };
}

function encodeTraceSteps(item: ResponseItem): AigoTraceStep[] {
  if (item.type !== "message") return isTraceItem(item) ? [{ type: "item", id: item.id }] : [];
  if (item.role === "user") return [];
  return item.content.map(({ text }) => ({ type: "text", text }));
}

/** User text becomes an anomaly: as a second message, it would look like a turn of the user. */
function listUserTextAnomalies(item: ResponseItem): Anomaly[] {
  if (item.type !== "message" || item.role !== "user") return [];
  return item.content.map(({ text }) => ({
    code: "text_from_user",
    message: "The stream carries text of the user",
    text,
  }));
}
