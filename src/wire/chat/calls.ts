import { isObject, jsonText, parseJson } from "../../domain/json.ts";
import { gather, noText } from "../../domain/kept-text.ts";
import { COST_OF_A_PIECE, diagnose, keepUnknown, type Out } from "../converse/state.ts";
import { closeContent } from "./content.ts";
import { TOOL_CALL } from "./schema.ts";
import type { ChatCall, ChatState } from "./state.ts";
import { keepUnknownMembers, tell } from "./told.ts";

/**
 * Folds one entry of `tool_calls`. OpenAI names a call by its index in every chunk and by its id in the first. Servers
 * were seen that leave out the index, that give every call the index 0, that repeat the id, and that send whole calls.
 */
export function foldCall(state: ChatState, raw: unknown, emit: Out): void {
  const entry = isObject(raw) ? raw : {};
  const { function: given } = entry;
  if (!isObject(given)) {
    return keepUnknown(state.converse, { what: "delta", name: "tool_calls", raw }, emit);
  }
  keepUnknownMembers(state, TOOL_CALL, entry, emit);
  const fragment: Fragment = {
    index: typeof entry["index"] === "number" ? entry["index"] : null,
    id: textOf(entry["id"]),
    name: textOf(given["name"]),
    input: inputOf(given["arguments"]),
  };
  const call = findCall(state, fragment) ?? newCall(state, fragment);
  if (call.id === "") rename(state, call, fragment.id);
  if (call.name === "") call.name = fragment.name;
  append(state, call, fragment.input, emit);
  if (call.index === null && call.id !== "" && call.name !== "") openCall(state, call, emit);
}

interface Fragment {
  readonly index: number | null;
  /** Empty, like the name, when the fragment has none. */
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

/** The call that a fragment continues. An id that differs begins another call, whatever the index says. */
function findCall(state: ChatState, { index, id, name, input }: Fragment): ChatCall | undefined {
  if (index === null && id !== "") return state.callsById.get(id);
  const known = index === null ? state.calls.at(-1) : state.callsByIndex.get(index);
  if (known === undefined) return undefined;
  if (id !== "" && known.id !== "") return id === known.id ? known : undefined;
  if (id !== "" || name === "" || known.name === "") return known;
  if (index === null) return undefined;
  return known.id === "" && known.waiting.text !== "" && isWhole(input) ? undefined : known;
}

/** Of calls without ids, only one that brings all of its arguments tells that it is another. */
function isWhole(input: string): boolean {
  const parsed = parseJson(input);
  return parsed.ok && isObject(parsed.value);
}

function newCall(state: ChatState, { index, name }: Fragment): ChatCall {
  const call: ChatCall = { id: "", name, index: null, waiting: noText() };
  state.converse.characters += COST_OF_A_PIECE;
  state.calls.push(call);
  if (index !== null) state.callsByIndex.set(index, call);
  return call;
}

function rename(state: ChatState, call: ChatCall, id: string): void {
  call.id = id;
  if (id !== "") state.callsById.set(id, call);
}

function append(state: ChatState, call: ChatCall, input: string, emit: Out): void {
  if (call.index !== null) tellInput(state, call.index, input, emit);
  else if (state.converse.characters <= state.converse.maxCharacters) {
    state.converse.characters += input.length;
    gather(call.waiting, input);
  }
}

function openCall(state: ChatState, call: ChatCall, emit: Out): void {
  closeContent(state, emit);
  call.index = state.nextIndex++;
  const start = { toolUse: { toolUseId: call.id, name: call.name } };
  tell(state, "contentBlockStart", { contentBlockIndex: call.index, start }, emit);
  const { text } = call.waiting;
  state.converse.characters -= text.length;
  tellInput(state, call.index, text, emit);
  call.waiting.text = "";
}

function tellInput(state: ChatState, index: number, input: string, emit: Out): void {
  if (input === "") return;
  const delta = { toolUse: { input } };
  tell(state, "contentBlockDelta", { contentBlockIndex: index, delta }, emit);
}

/**
 * Opens the calls that never got an id or a name. An id is only what a result is paired with, in a history that is sent
 * whole every time: one that we make up serves as well.
 */
export function openWaitingCalls(state: ChatState, emit: Out): void {
  for (const [position, call] of state.calls.entries()) {
    if (call.index !== null) continue;
    if (call.id === "") {
      rename(state, call, madeUpId(state, position));
      const message = `Call of "${call.name}" has no id; it is known as ${call.id}`;
      diagnose(state.converse, "tool_id_missing", message, emit);
    }
    openCall(state, call, emit);
  }
}

/** From the name of the answer, so that it differs from those of other answers. */
function madeUpId({ answerId }: ChatState, position: number): string {
  const prefix = answerId.replaceAll(/[^a-zA-Z0-9_-]/g, "-").slice(-LONGEST_PREFIX);
  return `${prefix === "" ? "" : `${prefix}-`}call-${position}`;
}

const LONGEST_PREFIX = 48;

export function closeCalls(state: ChatState, emit: Out): void {
  for (const { index } of state.calls) {
    if (index !== null) tell(state, "contentBlockStop", { contentBlockIndex: index }, emit);
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Arguments are JSON as text; a server that sends them parsed is understood too. */
function inputOf(value: unknown): string {
  if (typeof value === "string") return value;
  return isObject(value) ? jsonText(value) : "";
}
