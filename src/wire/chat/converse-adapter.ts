import type { Failure } from "../../domain/errors.ts";
import { isObject, parseJson } from "../../data/json.ts";
import type { StreamMessage } from "../../domain/provider/stream-message.ts";
import { createConverseFold } from "../converse/fold.ts";
import type { Fields, Shape } from "../converse/schema.ts";
import {
  diagnose,
  keepUnknownFields,
  type ConverseState,
  type EmitEvent,
} from "../converse/state.ts";

/** What the stream of a model brings: server-sent events, or what is wrong with them. */
export type ServerSentInput =
  | { readonly type: "event"; readonly event: string; readonly data: string }
  | { readonly type: "failure"; readonly failure: Failure };

export interface ModelFoldOptions {
  /** Text and arguments kept of one turn, in characters. */
  readonly maxCharacters?: number;
}

/** A dialect that is told to the Converse fold, which knows how to open, close and cut blocks, in its own events. */
export interface ConverseAdapterState {
  readonly converse: ConverseState;
  /** The message has its reason: what follows is about it, not of it. */
  hasEnded: boolean;
  /** The stream said that nothing more follows. */
  isOver: boolean;
  /** In Converse's words. The last report counts: servers that report as they go report sums. */
  usage: object | null;
}

/** Tells the one fold about an event. */
export function stepConverse(
  { converse }: ConverseAdapterState,
  name: string,
  payload: unknown,
  emit: EmitEvent,
): void {
  sharedFold.step(converse, { type: "event", name, payload }, emit);
}

/** Limits and outcomes are kept in the state, so one codec serves all. */
export const sharedFold = createConverseFold();

/** Says what the stream cost so far. Called once it is known that it will not be told more. */
export function stepUsage(state: ConverseAdapterState, emit: EmitEvent): void {
  if (state.usage !== null) stepConverse(state, "metadata", { usage: state.usage }, emit);
  state.usage = null;
}

export function stepFailure(
  state: ConverseAdapterState,
  message: Extract<StreamMessage, { type: "exception" | "failure" }>,
  emit: EmitEvent,
): void {
  stepUsage(state, emit);
  sharedFold.step(state.converse, message, emit);
}

/** The object that an event carries; undefined when there is none, and then the fold has been told why. */
export function parseEventData(
  state: ConverseAdapterState,
  input: ServerSentInput,
  emit: EmitEvent,
): Fields | undefined {
  const { converse, hasEnded } = state;
  if (input.type === "failure") {
    if (hasEnded) {
      const message = `The stream broke behind the end of its message: ${input.failure.message}`;
      diagnose(converse, "content_lost", message, emit);
    } else stepFailure(state, input, emit);
    return undefined;
  }
  const parsed = parseJson(input.data);
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  const problem = parsed.ok ? "it is no object" : parsed.reason;
  // An event without a name may have been any, so the message has a hole.
  const name = hasEnded ? "trailer" : "";
  const reason = `An event cannot be read: ${problem}`;
  sharedFold.step(converse, { type: "malformed", name, reason, raw: input.data }, emit);
  return undefined;
}

/** Members that this version does not know, kept the first time they say something. */
export function keepUnknownMembers(
  { converse }: ConverseAdapterState,
  shape: Shape,
  fields: Fields,
  emit: EmitEvent,
): void {
  for (const name in fields) {
    if (shape.fields.has(name) || isEmptyValue(fields[name])) continue;
    keepUnknownFields(converse, shape, { [name]: fields[name] }, emit);
  }
}

/** Servers write every member that they know of, most of them empty. */
function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

export function createShape(name: string, ...fields: readonly string[]): Shape {
  return { name, fields: new Set(fields), maxValues: 1 };
}
