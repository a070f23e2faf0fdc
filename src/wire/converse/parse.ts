import { runCodec } from "../../domain/codec.ts";
import { isObject, toJsonText, type JsonObject } from "../../data/json.ts";
import type { StreamMessage } from "../../domain/provider/stream-message.ts";
import type { ToolInputError } from "../../domain/tools/tool-call.ts";
import { buildTurn, type Turn } from "../../domain/provider/turn.ts";
import type { Usage } from "../../domain/usage.ts";
import { createConverseFold } from "./fold.ts";
import { EVENT_NAMES, isExceptionName } from "./schema.ts";

/** One call that waits for us, in the words of the wire. */
export type ToolUse = { readonly toolUseId: string; readonly name: string } & (
  | { readonly input: JsonObject; readonly inputError?: undefined }
  | { readonly input: null; readonly inputError: ToolInputError; readonly inputText: string }
);

export interface ParsedStream {
  /** The last one; null when the stream never said. */
  readonly stopReason: string | null;
  /** Ours to answer, in the order first seen, each id once. */
  readonly toolUses: readonly ToolUse[];
  /** All assistant text. */
  readonly text: string;
  readonly usage: Usage | null;
  /** Everything else: messages, reasoning, server tools with results, how it ended, diagnostics. */
  readonly turn: Turn;
}

/** Folds a whole list of decoded events, each an object with the event's name as its one key. */
export function parse(events: Iterable<unknown>): ParsedStream {
  const turn = buildTurn(runCodec(createConverseFold(), readUnionMessages(events)));
  return {
    stopReason: turn.end?.reason ?? null,
    toolUses: turn.toolCalls.map(({ id: toolUseId, name, input, inputError, inputText }) =>
      input === null
        ? { toolUseId, name, input, inputError, inputText }
        : { toolUseId, name, input },
    ),
    text: turn.text,
    usage: turn.usage,
    turn,
  };
}

function* readUnionMessages(events: Iterable<unknown>): Generator<StreamMessage> {
  for (const event of events) yield* readUnionEvent(event);
}

/** Reads one member of the decoded event union, as SDKs hand it out and captures keep it. */
export function readUnionEvent(event: unknown): StreamMessage[] {
  if (!isObject(event)) {
    return [
      createMalformedMessage(
        `An event is ${event === null ? "null" : typeof event}, wanted an object`,
        event,
      ),
    ];
  }
  const { $unknown: unmodelled } = event;
  // The AWS SDK for JavaScript wraps a member that it does not know as `$unknown: [name, value]`.
  if (Array.isArray(unmodelled) && typeof unmodelled[0] === "string") {
    return [{ type: "event", name: unmodelled[0], payload: unmodelled[1] }];
  }
  // Some SDKs write a union as all of its members, the absent ones as null.
  const set = Object.keys(event).filter(
    (name) => event[name] !== null && event[name] !== undefined,
  );
  const names = set.length > 0 ? set : Object.keys(event);
  if (names.length === 0) return [createMalformedMessage("An event is an empty object", event)];
  return names.map((name) => ({ type: "event", name, payload: event[name] }));
}

/** Whether a decoded value is a member of the event union, by the name of one of its keys. */
export function isUnionEvent(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.keys(value).some(
      (name) => EVENT_NAMES.has(name) || isExceptionName(name) || name === "$unknown",
    )
  );
}

function createMalformedMessage(reason: string, event: unknown): StreamMessage {
  return { type: "malformed", name: "?", reason, raw: toJsonText(event) };
}
