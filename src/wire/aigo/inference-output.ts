import type { Codec } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { isObject, type JsonObject } from "../../domain/json.ts";
import { callIdOf, type Place } from "../responses/ids.ts";
import { itemId } from "../responses/item-id.ts";
import type { OutputItem } from "../responses/output-item.ts";
import { unrecordedRequest } from "../responses/recorded-request.ts";
import type { FinishedResponse } from "../responses/response-encoder.ts";
import type { ResponseItem } from "../responses/response-item.ts";
import type { ResponseObject } from "../responses/response-object.ts";
import type { ResponseStatus } from "../responses/response-status.ts";
import { responseNow } from "../responses/stream/lifecycle.ts";
import { responseStream } from "../responses/stream/response-stream.ts";
import type { StreamState } from "../responses/stream/stream-state.ts";
import { aigoOf, type AigoOutput } from "./aigo-output.ts";

/** What an answer is made with, beside the events: the log keeps it with the prompt. */
export interface InferenceNote {
  /** Carried along on the assistant's messages. */
  readonly state: JsonObject;
  readonly ignored: readonly string[];
}

export function inferenceNote({ state, ignored }: InferenceNote): JsonObject {
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
  /** The agent's own ids of its calls, by those that clients of other surfaces know. */
  readonly callIds: Map<string, string>;
}

/** A session's events, from the one that is answered, as the one output of that turn. */
export function inferenceEncoder(
  place: Place,
  { state: carried, ignored }: InferenceNote,
): Codec<InferenceState, Envelope, AigoOutput> {
  const { sessionId, seq } = place;
  const responses = responseStream(unrecordedRequest(""));
  // No message of the turn has this id: it is the prompt's place, and a block.
  const messageId = itemId("message", sessionId, `${seq}-0`);
  const outputOf = ({ stream, callIds }: InferenceState): AigoOutput => {
    const response = responseNow(stream);
    if (response === null) throw new Error("A turn has no events");
    const finished = finishedFrom(response, callIds);
    return aigoOf(finished, { messageId, sessionId, state: carried, ignored });
  };
  const isOver = ({ stream }: InferenceState): boolean => responses.isOver?.(stream) === true;
  return {
    initial: () => ({ stream: responses.initial(), callIds: new Map() }),
    step(state, envelope, emit) {
      const { event } = envelope;
      if (event.type === "tool.called")
        state.callIds.set(callIdOf(sessionId, event.toolCallId), event.call.id);
      if (isOver(state)) return;
      responses.step(state.stream, envelope, () => {});
      if (isOver(state)) emit(outputOf(state));
    },
    finish(state, emit) {
      if (isOver(state)) return;
      responses.finish(state.stream, () => {});
      emit(outputOf(state));
    },
    isOver,
  };
}

function finishedFrom(
  response: ResponseObject,
  callIds: ReadonlyMap<string, string>,
): FinishedResponse {
  const { output, usage, anomalies = [] } = response;
  const items = output.flatMap((item) => itemFor(item, callIds));
  return { ...endOf(response), items, usage, anomalies };
}

function endOf({ status, incomplete_details, error }: ResponseObject): ResponseStatus {
  if (status === "completed") return { status, incomplete_details: null, error: null };
  if (incomplete_details !== null) return { status: "incomplete", incomplete_details, error: null };
  return { status: "failed", incomplete_details: null, error: error ?? CANCELLED };
}

const CANCELLED = { code: "cancelled", message: "The turn was cancelled before it ended" };

/** The calls under the agent's own ids, as evaluations compare them. What the agent took back is not in its answer. */
function itemFor(item: OutputItem, callIds: ReadonlyMap<string, string>): ResponseItem[] {
  switch (item.type) {
    case "function_call":
    case "function_call_output":
      return [{ ...item, call_id: callIds.get(item.call_id) ?? item.call_id }];
    case "message":
      return item.role === "assistant" ? spoken(item) : [item];
    case "reasoning":
    case "mcp_call":
    case "spanline:tool_call":
      return [];
    default:
      return item satisfies never;
  }
}

/** Pieces end with the blank line that keeps them apart in a response; here they are joined with one. */
function spoken(item: Extract<OutputItem, { readonly role: "assistant" }>): ResponseItem[] {
  if (item.withdrawn === true) return [];
  const content = item.content.map((part) => ({ ...part, text: part.text.replace(/\n\n$/, "") }));
  return [{ ...item, content }];
}
