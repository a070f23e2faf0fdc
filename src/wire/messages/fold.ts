import { isObject } from "../../data/json.ts";
import type { Codec } from "../../domain/codec.ts";
import type { ProviderEvent, Outcome } from "../../domain/provider/provider-event.ts";
import {
  stepFailure,
  sharedFold,
  keepUnknownMembers,
  parseEventData,
  createShape,
  stepConverse,
  stepUsage,
  type ModelFoldOptions,
  type ServerSentInput,
} from "../chat/converse-adapter.ts";
import { readApiError } from "../chat/model-api-error.ts";
import { createConverseFold } from "../converse/fold.ts";
import type { Fields } from "../converse/schema.ts";
import { keepUnknown, type EmitEvent } from "../converse/state.ts";
import { foldDelta, startBlock, stopBlock } from "./block-events.ts";
import type { MessagesState } from "./state.ts";

/** Creates a fold for the stream of the Anthropic Messages API. */
export function createMessagesFold(
  options: ModelFoldOptions = {},
): Codec<MessagesState, ServerSentInput, ProviderEvent> {
  const converse = createConverseFold({ ...options, outcomes: MESSAGES_OUTCOMES });
  return {
    initial: () => ({
      converse: converse.initial(),
      hasEnded: false,
      isOver: false,
      blocks: new Map(),
      usage: null,
    }),
    step(state, input, emit) {
      const fields = parseEventData(state, input, emit);
      if (fields === undefined || input.type !== "event") return;
      const { type } = fields;
      foldEvent(state, typeof type === "string" ? type : input.event, fields, emit);
    },
    finish(state, emit) {
      stepUsage(state, emit);
      sharedFold.finish(state.converse, emit);
    },
  };
}

function foldEvent(state: MessagesState, type: string, fields: Fields, emit: EmitEvent): void {
  switch (type) {
    case "message_start":
      return startMessage(state, fields, emit);
    case "content_block_start":
      return startBlock(state, fields, emit);
    case "content_block_delta":
      return foldDelta(state, fields, emit);
    case "content_block_stop":
      return stopBlock(state, fields, emit);
    case "message_delta":
      return foldMessageDelta(state, fields, emit);
    case "message_stop":
      return stopMessage(state, emit);
    case "ping":
      return;
    case "error": {
      const error = readApiError("error", fields);
      if (error !== undefined) stepFailure(state, { type: "exception", ...error }, emit);
      return;
    }
    default:
      keepUnknown(state.converse, { what: "event", name: type, raw: fields }, emit);
  }
}

function startMessage(state: MessagesState, fields: Fields, emit: EmitEvent): void {
  const message = isObject(fields["message"]) ? fields["message"] : {};
  stepConverse(state, "messageStart", { role: message["role"] }, emit);
  keepUnknownMembers(state, MESSAGE, message, emit);
  recordUsage(state, message["usage"]);
}

function foldMessageDelta(state: MessagesState, fields: Fields, emit: EmitEvent): void {
  const delta = isObject(fields["delta"]) ? fields["delta"] : {};
  keepUnknownMembers(state, MESSAGE_DELTA, delta, emit);
  recordUsage(state, fields["usage"]);
  const { stop_reason: stopReason } = delta;
  if (typeof stopReason !== "string") return;
  state.hasEnded = true;
  stepConverse(state, "messageStop", { stopReason }, emit);
}

/** The stop reason arrives before `message_stop`. A message without a stop reason is incomplete despite this event. */
function stopMessage(state: MessagesState, emit: EmitEvent): void {
  state.isOver = true;
  if (!state.hasEnded) stepConverse(state, "messageStop", {}, emit);
}

const MESSAGE = createShape(
  "message",
  "id",
  "type",
  "role",
  "content",
  "model",
  "stop_reason",
  "stop_sequence",
  "usage",
);
const MESSAGE_DELTA = createShape("message_delta", "stop_reason", "stop_sequence");

function recordUsage(state: MessagesState, raw: unknown): void {
  if (!isObject(raw)) return;
  const counts = [...USAGE_NAMES].flatMap(([theirs, name]) => {
    const count = raw[theirs];
    return count === undefined || count === null ? [] : [[name, count] as const];
  });
  state.usage = { ...state.usage, ...Object.fromEntries(counts) };
}

/** Their field names, and the names of Converse. */
const USAGE_NAMES: readonly (readonly [theirs: string, name: string])[] = [
  ["input_tokens", "inputTokens"],
  ["output_tokens", "outputTokens"],
  ["cache_read_input_tokens", "cacheReadInputTokens"],
  ["cache_creation_input_tokens", "cacheWriteInputTokens"],
];

/** The outcome of each `stop_reason`. After `pause_turn`, the model can continue with another request. */
const MESSAGES_OUTCOMES: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ["end_turn", "completed"],
  ["stop_sequence", "completed"],
  ["tool_use", "action-required"],
  ["max_tokens", "limited"],
  ["model_context_window_exceeded", "limited"],
  ["pause_turn", "limited"],
  ["refusal", "limited"],
]);
