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

/** The input of a model stream: server-sent events, or the failure of the framing. */
export type ServerSentInput =
  | { readonly type: "event"; readonly event: string; readonly data: string }
  | { readonly type: "failure"; readonly failure: Failure };

export interface ModelFoldOptions {
  /** Characters of text and arguments kept per turn. Default: 100,000,000. */
  readonly maxCharacters?: number;
}

/**
 * The state of a dialect adapted to the Converse fold. The adapter translates the dialect's events to Converse events;
 * the Converse fold opens, closes and truncates blocks.
 */
export interface ConverseAdapterState {
  readonly converse: ConverseState;
  /** The message has its stop reason. Following events only add metadata. */
  hasEnded: boolean;
  /** The stream reported its end. */
  isOver: boolean;
  /** Usage in the field names of Converse. The last report wins: servers with several reports send running totals. */
  usage: object | null;
}

/** Passes one event to the Converse fold. */
export function stepConverse(
  { converse }: ConverseAdapterState,
  name: string,
  payload: unknown,
  emit: EmitEvent,
): void {
  sharedFold.step(converse, { type: "event", name, payload }, emit);
}

/** Limits and outcomes are part of the state, so one codec serves all streams. */
export const sharedFold = createConverseFold();

/** Emits the usage so far. Called when no further report can arrive. */
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

/**
 * Returns the JSON object of an event. Undefined if the event has none; the problem has then been passed to the fold.
 */
export function parseEventData(
  state: ConverseAdapterState,
  input: ServerSentInput,
  emit: EmitEvent,
): Fields | undefined {
  const { converse, hasEnded } = state;
  if (input.type === "failure") {
    if (hasEnded) {
      const message = `The stream broke after the end of its message: ${input.failure.message}`;
      diagnose(converse, "content_lost", message, emit);
    } else stepFailure(state, input, emit);
    return undefined;
  }
  const parsed = parseJson(input.data);
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  const problem = parsed.ok ? "it is not an object" : parsed.reason;
  // An unreadable event may have carried any content, so it fails the turn. After the end of the message the name is
  // set, and the turn is not affected.
  const name = hasEnded ? "trailer" : "";
  const reason = `An event cannot be read: ${problem}`;
  sharedFold.step(converse, { type: "malformed", name, reason, raw: input.data }, emit);
  return undefined;
}

/** Emits unknown fields, each with its first non-empty value. */
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

/** Servers write every field of their schema, most of them empty. */
function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

export function createShape(name: string, ...fields: readonly string[]): Shape {
  return { name, fields: new Set(fields), maxValues: 1 };
}
