import type { Codec } from "../../domain/codec.ts";
import { isObject } from "../../domain/json.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { readApiError } from "../chat/api-error.ts";
import {
  fail,
  fold,
  keepUnknownMembers,
  readData,
  shapeOf,
  tell,
  tellUsage,
  type ModelFoldOptions,
  type ServerSentInput,
} from "../chat/told.ts";
import { converseFold } from "../converse/fold.ts";
import type { Fields } from "../converse/schema.ts";
import { keepUnknown, type Out } from "../converse/state.ts";
import { foldDelta, startBlock, stopBlock } from "./blocks.ts";
import { MESSAGES_OUTCOMES } from "./outcomes.ts";
import type { MessagesState } from "./state.ts";

/** Folds the stream of the Anthropic Messages API. */
export function messagesFold(
  options: ModelFoldOptions = {},
): Codec<MessagesState, ServerSentInput, ProviderEvent> {
  const converse = converseFold({ ...options, outcomes: MESSAGES_OUTCOMES });
  return {
    initial: () => ({
      converse: converse.initial(),
      ended: false,
      over: false,
      blocks: new Map(),
      usage: null,
    }),
    step(state, input, emit) {
      const fields = readData(state, input, emit);
      if (fields === undefined || input.type !== "event") return;
      const { type } = fields;
      foldEvent(state, typeof type === "string" ? type : input.event, fields, emit);
    },
    finish(state, emit) {
      tellUsage(state, emit);
      fold.finish(state.converse, emit);
    },
  };
}

function foldEvent(state: MessagesState, type: string, fields: Fields, emit: Out): void {
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
      return changeMessage(state, fields, emit);
    case "message_stop":
      return stopMessage(state, emit);
    case "ping":
      return;
    case "error": {
      const error = readApiError("error", fields);
      if (error !== undefined) fail(state, { type: "exception", ...error }, emit);
      return;
    }
    default:
      keepUnknown(state.converse, { what: "event", name: type, raw: fields }, emit);
  }
}

function startMessage(state: MessagesState, fields: Fields, emit: Out): void {
  const message = isObject(fields["message"]) ? fields["message"] : {};
  tell(state, "messageStart", { role: message["role"] }, emit);
  keepUnknownMembers(state, MESSAGE, message, emit);
  noteUsage(state, message["usage"]);
}

function changeMessage(state: MessagesState, fields: Fields, emit: Out): void {
  const delta = isObject(fields["delta"]) ? fields["delta"] : {};
  keepUnknownMembers(state, MESSAGE_DELTA, delta, emit);
  noteUsage(state, fields["usage"]);
  const { stop_reason: stopReason } = delta;
  if (typeof stopReason !== "string") return;
  state.ended = true;
  tell(state, "messageStop", { stopReason }, emit);
}

/** The reason came before. Without one the message is not whole, whatever this says. */
function stopMessage(state: MessagesState, emit: Out): void {
  state.over = true;
  if (!state.ended) tell(state, "messageStop", {}, emit);
}

const MESSAGE = shapeOf(
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
const MESSAGE_DELTA = shapeOf("message_delta", "stop_reason", "stop_sequence");

function noteUsage(state: MessagesState, raw: unknown): void {
  if (!isObject(raw)) return;
  const counts = [...USAGE_NAMES].flatMap(([theirs, name]) => {
    const count = raw[theirs];
    return count === undefined || count === null ? [] : [[name, count] as const];
  });
  state.usage = { ...state.usage, ...Object.fromEntries(counts) };
}

/** As Converse names them. */
const USAGE_NAMES: readonly (readonly [theirs: string, name: string])[] = [
  ["input_tokens", "inputTokens"],
  ["output_tokens", "outputTokens"],
  ["cache_read_input_tokens", "cacheReadInputTokens"],
  ["cache_creation_input_tokens", "cacheWriteInputTokens"],
];
