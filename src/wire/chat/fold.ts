import type { Codec } from "../../domain/codec.ts";
import { isObject } from "../../data/json.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createConverseFold } from "../converse/fold.ts";
import type { Fields } from "../converse/schema.ts";
import { diagnose, keepUnknown, type EmitEvent } from "../converse/state.ts";
import { readApiError } from "./model-api-error.ts";
import { closeToolCalls, foldToolCall, openPendingToolCalls } from "./tool-calls.ts";
import { closeContent, foldContent } from "./content.ts";
import { CHAT_OUTCOMES, REFUSAL } from "./outcomes.ts";
import { CHOICE, CHUNK, DELTA } from "./schema.ts";
import type { ChatState } from "./state.ts";
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
import { toConverseUsage } from "./usage.ts";

/** Folds the stream of an OpenAI-compatible chat completion. */
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
    diagnose(state.converse, "event_after_end", `Something came after ${DONE_MARKER}`, emit);
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

/** One answer was asked for; a second one is not mixed into it. */
function foldChoice(state: ChatState, raw: unknown, emit: EmitEvent): void {
  const choice = isObject(raw) ? raw : {};
  const { index, delta, message, finish_reason: reason } = choice;
  if (!isObject(raw) || (index !== undefined && index !== null && index !== 0)) {
    return keepUnknown(state.converse, { what: "event", name: "choice", raw }, emit);
  }
  keepUnknownMembers(state, CHOICE, choice, emit);
  if (isObject(delta)) foldDelta(state, delta, emit);
  // Some servers answer in one piece inside of a stream.
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
  // Some servers say it again in the chunk that has the usage.
  if (state.hasEnded) return;
  startMessage(state, "assistant", emit);
  openPendingToolCalls(state, emit);
  closeContent(state, emit);
  closeToolCalls(state, emit);
  state.hasEnded = true;
  const stopReason = finishReason === "stop" && state.hasRefusal ? REFUSAL : finishReason;
  stepConverse(state, "messageStop", { stopReason }, emit);
}
