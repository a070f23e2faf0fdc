import type { Codec } from "../../domain/codec.ts";
import { isObject } from "../../domain/json.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { converseFold } from "../converse/fold.ts";
import type { Fields } from "../converse/schema.ts";
import { diagnose, keepUnknown, type Out } from "../converse/state.ts";
import { readApiError } from "./api-error.ts";
import { closeCalls, foldCall, openWaitingCalls } from "./calls.ts";
import { closeContent, foldContent } from "./content.ts";
import { CHAT_OUTCOMES, REFUSAL } from "./outcomes.ts";
import { CHOICE, CHUNK, DELTA } from "./schema.ts";
import type { ChatState } from "./state.ts";
import {
  fail,
  fold,
  keepUnknownMembers,
  readData,
  tell,
  tellUsage,
  type ModelFoldOptions,
  type ServerSentInput,
} from "./told.ts";
import { converseUsage } from "./usage.ts";

/** Folds the stream of an OpenAI-compatible chat completion. */
export function chatFold(
  options: ModelFoldOptions = {},
): Codec<ChatState, ServerSentInput, ProviderEvent> {
  const converse = converseFold({ ...options, outcomes: CHAT_OUTCOMES });
  return {
    initial: () => ({
      converse: converse.initial(),
      ended: false,
      over: false,
      started: false,
      refused: false,
      open: null,
      nextIndex: 0,
      calls: [],
      callsByIndex: new Map(),
      callsById: new Map(),
      answerId: "",
      usage: null,
    }),
    step: foldInput,
    finish(state, emit) {
      if (!state.ended) openWaitingCalls(state, emit);
      tellUsage(state, emit);
      fold.finish(state.converse, emit);
    },
  };
}

function foldInput(state: ChatState, input: ServerSentInput, emit: Out): void {
  if (input.type === "event" && input.data.trim() === DONE) {
    state.over = true;
    return;
  }
  if (state.over) diagnose(state.converse, "event_after_end", `Something came after ${DONE}`, emit);
  const chunk = readData(state, input, emit);
  if (chunk === undefined || input.type !== "event") return;
  const error = readApiError(input.event, chunk);
  if (error !== undefined) fail(state, { type: "exception", ...error }, emit);
  if (error === undefined || "choices" in chunk) foldChunk(state, chunk, emit);
}

const DONE = "[DONE]";

function foldChunk(state: ChatState, chunk: Fields, emit: Out): void {
  const { id, choices, usage } = chunk;
  if (!Array.isArray(choices) && !isObject(usage)) {
    const name = typeof chunk["object"] === "string" ? chunk["object"] : "chunk";
    return keepUnknown(state.converse, { what: "event", name, raw: chunk }, emit);
  }
  keepUnknownMembers(state, CHUNK, chunk, emit);
  if (typeof id === "string" && state.answerId === "") state.answerId = id;
  if (isObject(usage)) state.usage = converseUsage(usage);
  for (const choice of Array.isArray(choices) ? choices : []) foldChoice(state, choice, emit);
}

/** One answer was asked for; a second one is not mixed into it. */
function foldChoice(state: ChatState, raw: unknown, emit: Out): void {
  const choice = isObject(raw) ? raw : {};
  const { index, delta, message, finish_reason: reason } = choice;
  if (!isObject(raw) || (index !== undefined && index !== null && index !== 0)) {
    return keepUnknown(state.converse, { what: "event", name: "choice", raw }, emit);
  }
  keepUnknownMembers(state, CHOICE, choice, emit);
  if (isObject(delta)) foldDelta(state, delta, emit);
  // Some servers answer in one piece inside of a stream.
  else if (isObject(message) && state.nextIndex === 0) foldDelta(state, message, emit);
  if (typeof reason === "string" && reason !== "") stop(state, reason, emit);
}

function foldDelta(state: ChatState, delta: Fields, emit: Out): void {
  start(state, delta["role"], emit);
  keepUnknownMembers(state, DELTA, delta, emit);
  foldContent(state, delta, emit);
  const { tool_calls: calls } = delta;
  if (Array.isArray(calls)) for (const call of calls) foldCall(state, call, emit);
}

/** Many servers repeat the role in every chunk. */
function start(state: ChatState, role: unknown, emit: Out): void {
  if (state.started) return;
  state.started = true;
  tell(state, "messageStart", { role: role === "" ? "assistant" : (role ?? "assistant") }, emit);
}

function stop(state: ChatState, given: string, emit: Out): void {
  // Some servers say it again in the chunk that has the usage.
  if (state.ended) return;
  start(state, "assistant", emit);
  openWaitingCalls(state, emit);
  closeContent(state, emit);
  closeCalls(state, emit);
  state.ended = true;
  const stopReason = given === "stop" && state.refused ? REFUSAL : given;
  tell(state, "messageStop", { stopReason }, emit);
}
