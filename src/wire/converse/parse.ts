import { runCodec } from "../../domain/codec.ts";
import { isObject, toJsonText, type JsonObject } from "../../data/json.ts";
import type { StreamMessage } from "../../domain/provider/stream-message.ts";
import type { ToolInputError } from "../../domain/tools/tool-call.ts";
import { buildTurn, type Turn } from "../../domain/provider/turn.ts";
import type { Usage } from "../../domain/usage.ts";
import { createConverseFold } from "./fold.ts";
import { EVENT_NAMES, isExceptionName } from "./schema.ts";

/** A tool call open for the client, in the field names of the wire. */
export type ToolUse = { readonly toolUseId: string; readonly name: string } & (
  | { readonly input: JsonObject; readonly inputError?: undefined }
  | { readonly input: null; readonly inputError: ToolInputError; readonly inputText: string }
);

export interface ParsedStream {
  /** The stop reason of the last message. Null if the stream has none. */
  readonly stopReason: string | null;
  /** Tool calls waiting for a result from the client, in the order of their first start, each id once. */
  readonly toolUses: readonly ToolUse[];
  /** Text of all assistant messages. */
  readonly text: string;
  readonly usage: Usage | null;
  /** The complete turn: messages, reasoning, server tools with results, the end and the diagnostics. */
  readonly turn: Turn;
}

/** Folds a complete list of decoded events. Each event is an object with the event name as its only key. */
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

/** Reads one decoded event of the union, in the form used by SDKs and captures. */
export function readUnionEvent(event: unknown): StreamMessage[] {
  if (!isObject(event)) {
    return [
      createMalformedMessage(
        `An event is ${event === null ? "null" : typeof event}: expected an object`,
        event,
      ),
    ];
  }
  const { $unknown: unmodelled } = event;
  // The AWS SDK for JavaScript wraps an unknown member as `$unknown: [name, value]`.
  if (Array.isArray(unmodelled) && typeof unmodelled[0] === "string") {
    return [{ type: "event", name: unmodelled[0], payload: unmodelled[1] }];
  }
  // Some SDKs list all members of a union and set the absent members to null.
  const set = Object.keys(event).filter(
    (name) => event[name] !== null && event[name] !== undefined,
  );
  const names = set.length > 0 ? set : Object.keys(event);
  if (names.length === 0) return [createMalformedMessage("An event is an empty object", event)];
  return names.map((name) => ({ type: "event", name, payload: event[name] }));
}

/** Returns whether a decoded value is a member of the event union, judged by its keys. */
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
