import { isObject } from "../../data/json.ts";
import type { Codec } from "../../domain/codec.ts";
import type { ProviderEvent, Outcome } from "../../domain/provider/provider-event.ts";
import { createConverseFold } from "../converse/fold.ts";
import type { Fields } from "../converse/schema.ts";
import { diagnose, keepUnknown, type EmitEvent } from "../converse/state.ts";
import { closeContent, foldContent } from "./content.ts";
import {
  stepFailure,
  sharedFold,
  keepUnknownMembers,
  parseEventData,
  stepConverse,
  stepUsage,
  type ModelFoldOptions,
  type ServerSentInput,
} from "./converse-adapter.ts";
import { readApiError } from "./model-api-error.ts";
import { CHOICE, CHUNK, DELTA } from "./schema.ts";
import type { ChatState } from "./state.ts";
import { closeToolCalls, foldToolCall, openPendingToolCalls } from "./tool-calls.ts";

/** Creates a fold for the stream of an OpenAI-compatible chat completion. */
export function createChatFold(
  options: ModelFoldOptions = {},
): Codec<ChatState, ServerSentInput, ProviderEvent> {
  const converse = createConverseFold({ ...options, outcomes: CHAT_OUTCOMES });
  return {
    initial: () => ({
      converse: converse.initial(),
      hasEnded: false,
      isOver: false,
      hasStarted: false,
      hasRefusal: false,
      openContent: null,
      nextIndex: 0,
      toolCalls: [],
      toolCallsByIndex: new Map(),
      toolCallsById: new Map(),
      responseId: "",
      usage: null,
    }),
    step: foldInput,
    finish(state, emit) {
      if (!state.hasEnded) openPendingToolCalls(state, emit);
      stepUsage(state, emit);
      sharedFold.finish(state.converse, emit);
    },
  };
}

function foldInput(state: ChatState, input: ServerSentInput, emit: EmitEvent): void {
  if (input.type === "event" && input.data.trim() === DONE_MARKER) {
    state.isOver = true;
    return;
  }
  if (state.isOver)
    diagnose(state.converse, "event_after_end", `An event arrived after ${DONE_MARKER}`, emit);
  const chunk = parseEventData(state, input, emit);
  if (chunk === undefined || input.type !== "event") return;
  const error = readApiError(input.event, chunk);
  if (error !== undefined) stepFailure(state, { type: "exception", ...error }, emit);
  if (error === undefined || "choices" in chunk) foldChunk(state, chunk, emit);
}

const DONE_MARKER = "[DONE]";

function foldChunk(state: ChatState, chunk: Fields, emit: EmitEvent): void {
  const { id, choices, usage } = chunk;
  if (!Array.isArray(choices) && !isObject(usage)) {
    const name = typeof chunk["object"] === "string" ? chunk["object"] : "chunk";
    return keepUnknown(state.converse, { what: "event", name, raw: chunk }, emit);
  }
  keepUnknownMembers(state, CHUNK, chunk, emit);
  if (typeof id === "string" && state.responseId === "") state.responseId = id;
  if (isObject(usage)) state.usage = toConverseUsage(usage);
  for (const choice of Array.isArray(choices) ? choices : []) foldChoice(state, choice, emit);
}

/** Requests ask for one choice. A second choice is kept as unknown and not mixed into the text. */
function foldChoice(state: ChatState, raw: unknown, emit: EmitEvent): void {
  const choice = isObject(raw) ? raw : {};
  const { index, delta, message, finish_reason: reason } = choice;
  if (!isObject(raw) || (index !== undefined && index !== null && index !== 0)) {
    return keepUnknown(state.converse, { what: "event", name: "choice", raw }, emit);
  }
  keepUnknownMembers(state, CHOICE, choice, emit);
  if (isObject(delta)) foldDelta(state, delta, emit);
  // Some servers send the complete message in one chunk of the stream.
  else if (isObject(message) && state.nextIndex === 0) foldDelta(state, message, emit);
  if (typeof reason === "string" && reason !== "") stopMessage(state, reason, emit);
}

function foldDelta(state: ChatState, delta: Fields, emit: EmitEvent): void {
  startMessage(state, delta["role"], emit);
  keepUnknownMembers(state, DELTA, delta, emit);
  foldContent(state, delta, emit);
  const { tool_calls: calls } = delta;
  if (Array.isArray(calls)) for (const call of calls) foldToolCall(state, call, emit);
}

/** Many servers repeat the role in every chunk. */
function startMessage(state: ChatState, role: unknown, emit: EmitEvent): void {
  if (state.hasStarted) return;
  state.hasStarted = true;
  stepConverse(
    state,
    "messageStart",
    { role: role === "" ? "assistant" : (role ?? "assistant") },
    emit,
  );
}

function stopMessage(state: ChatState, finishReason: string, emit: EmitEvent): void {
  // Some servers repeat the reason in the chunk with the usage.
  if (state.hasEnded) return;
  startMessage(state, "assistant", emit);
  openPendingToolCalls(state, emit);
  closeContent(state, emit);
  closeToolCalls(state, emit);
  state.hasEnded = true;
  const stopReason = finishReason === "stop" && state.hasRefusal ? REFUSAL : finishReason;
  stepConverse(state, "messageStop", { stopReason }, emit);
}

const REFUSAL = "refusal";

/**
 * The outcome of each `finish_reason`: OpenAI's four, and additions by compatible servers. A refusal arrives in a
 * separate field and ends with `stop`; the fold reports the reason `refusal` instead.
 */
const CHAT_OUTCOMES: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ["stop", "completed"],
  ["eos", "completed"],
  ["eos_token", "completed"],
  ["end_turn", "completed"],
  ["stop_sequence", "completed"],
  ["tool_calls", "action-required"],
  ["tool_use", "action-required"],
  ["length", "limited"],
  ["max_tokens", "limited"],
  ["model_length", "limited"],
  ["content_filter", "limited"],
  [REFUSAL, "limited"],
  ["error", "failed"],
  ["abort", "failed"],
  ["insufficient_system_resource", "failed"],
]);

/**
 * Converts usage to the field names of Converse. Here `prompt_tokens` includes the tokens read from a cache; in
 * Converse they are counted separately.
 */
function toConverseUsage(raw: Fields): object {
  const details = isObject(raw["prompt_tokens_details"]) ? raw["prompt_tokens_details"] : {};
  const cachedTokens = details["cached_tokens"] ?? raw["prompt_cache_hit_tokens"];
  const { prompt_tokens: promptTokens, completion_tokens, total_tokens } = raw;
  const uncachedTokens =
    typeof promptTokens === "number" && typeof cachedTokens === "number"
      ? Math.max(0, promptTokens - cachedTokens)
      : promptTokens;
  return {
    inputTokens: uncachedTokens,
    outputTokens: completion_tokens,
    cacheReadInputTokens: cachedTokens,
    totalTokens: total_tokens,
  };
}
