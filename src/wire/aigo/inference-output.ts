import type { Codec } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { isObject, type JsonObject } from "../../data/json.ts";
import { type LogPosition } from "../../domain/events/log-position.ts";
import { formatCallId } from "../responses/response-ids.ts";
import { formatItemId } from "../responses/items/item-id.ts";
import type { OutputItem } from "../responses/items/output-item.ts";
import { createUnrecordedRequest } from "../responses/recorded-request.ts";
import type { FinishedResponse } from "../responses/response-encoder.ts";
import type { ResponseItem } from "../responses/items/response-item.ts";
import type { ResponseObject } from "../responses/response-object.ts";
import type { ResponseStatus } from "../responses/response-status.ts";
import { snapshotResponse } from "../responses/stream/lifecycle.ts";
import { createResponseStream } from "../responses/stream/response-stream.ts";
import type { StreamState } from "../responses/stream/stream-state.ts";
import { encodeAigoResponse, type AigoOutput } from "./aigo-output.ts";

/** Settings for encoding a response, in addition to the events. Stored in the log with the prompt. */
export interface InferenceNote {
  /** State copied to the assistant messages. */
  readonly state: JsonObject;
  readonly ignored: readonly string[];
}

export function encodeInferenceNote({ state, ignored }: InferenceNote): JsonObject {
  return { surface: "inference", state, ignored };
}

export function readInferenceNote({ surface, state, ignored }: JsonObject): InferenceNote {
  if (surface !== "inference") return { state: {}, ignored: [] };
  return {
    state: isObject(state) ? state : {},
    ignored: Array.isArray(ignored) ? ignored.filter((name) => typeof name === "string") : [],
  };
}

export interface InferenceState {
  readonly stream: StreamState;
  /** The agent's own tool call ids, by the ids known to clients of other surfaces. */
  readonly originalCallIds: Map<string, string>;
}

/** Encodes a session's events as one AI GO! output, starting with the event of the prompt. */
export function createInferenceEncoder(
  position: LogPosition,
  { state: carriedState, ignored }: InferenceNote,
): Codec<InferenceState, Envelope, AigoOutput> {
  const { sessionId, seq } = position;
  const responses = createResponseStream(createUnrecordedRequest(""));
  // Unique within the turn: derived from the position of the prompt and a block number.
  const messageId = formatItemId("message", sessionId, `${seq}-0`);
  const encodeOutput = ({ stream, originalCallIds }: InferenceState): AigoOutput => {
    const response = snapshotResponse(stream);
    if (response === null) throw new Error("A turn has no events");
    const finished = toFinishedResponse(response, originalCallIds);
    return encodeAigoResponse(finished, { messageId, sessionId, state: carriedState, ignored });
  };
  const isOver = ({ stream }: InferenceState): boolean => responses.isOver?.(stream) === true;
  return {
    initial: () => ({ stream: responses.initial(), originalCallIds: new Map() }),
    step(state, envelope, emit) {
      const { event } = envelope;
      if (event.type === "tool_call.received")
        state.originalCallIds.set(formatCallId(sessionId, event.toolCallId), event.toolCall.id);
      if (isOver(state)) return;
      responses.step(state.stream, envelope, () => {});
      if (isOver(state)) emit(encodeOutput(state));
    },
    finish(state, emit) {
      if (isOver(state)) return;
      responses.finish(state.stream, () => {});
      emit(encodeOutput(state));
    },
    isOver,
  };
}

function toFinishedResponse(
  response: ResponseObject,
  originalCallIds: ReadonlyMap<string, string>,
): FinishedResponse {
  const { output, usage, anomalies = [] } = response;
  const items = output.flatMap((item) => toResponseItems(item, originalCallIds));
  return { ...toResponseStatus(response), items, usage, anomalies };
}

function toResponseStatus({ status, incomplete_details, error }: ResponseObject): ResponseStatus {
  if (status === "completed") return { status, incomplete_details: null, error: null };
  if (incomplete_details !== null) return { status: "incomplete", incomplete_details, error: null };
  return { status: "failed", incomplete_details: null, error: error ?? CANCELLED_ERROR };
}

const CANCELLED_ERROR = { code: "cancelled", message: "The turn was cancelled before it ended" };

/** Uses the agent's own tool call ids, as compared by evaluations. Withdrawn text is omitted. */
function toResponseItems(
  item: OutputItem,
  originalCallIds: ReadonlyMap<string, string>,
): ResponseItem[] {
  switch (item.type) {
    case "function_call":
    case "function_call_output":
      return [{ ...item, call_id: originalCallIds.get(item.call_id) ?? item.call_id }];
    case "message":
      return item.role === "assistant" ? toAssistantItems(item) : [item];
    case "reasoning":
    case "mcp_call":
    case "spanline:tool_call":
      return [];
    default:
      return item satisfies never;
  }
}

/**
 * In a response, texts end with a separating blank line. AI GO! output joins texts with a blank line, so this end is
 * removed.
 */
function toAssistantItems(
  item: Extract<OutputItem, { readonly role: "assistant" }>,
): ResponseItem[] {
  if (item.withdrawn === true) return [];
  const content = item.content.map((part) => ({ ...part, text: part.text.replace(/\n\n$/, "") }));
  return [{ ...item, content }];
}
