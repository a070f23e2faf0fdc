import { isObject } from "../../data/json.ts";
import type { Codec } from "../../domain/codec.ts";
import type { Failure } from "../../domain/errors.ts";
import type { HookFired, Outcome, ProviderEvent } from "../../domain/provider/provider-event.ts";
import type { StreamMessage } from "../../domain/provider/stream-message.ts";
import { addUsage, type Usage } from "../../domain/usage.ts";
import { closeSlots, EXPLICIT, isEmptySlot, toSlotKey } from "./blocks.ts";
import { foldDelta } from "./deltas.ts";
import { endTurn, startMessage, stopMessage } from "./turn-boundaries.ts";
import {
  TURN_EVENT_NAMES,
  CONTENT_BLOCK_STOP,
  HOOK_EVENT,
  METADATA,
  METADATA_METRICS,
  METADATA_USAGE,
  isExceptionName,
  type Fields,
  type USAGE_COUNTS,
} from "./schema.ts";
import { foldStart } from "./starts.ts";
import {
  PIECE_OVERHEAD,
  diagnose,
  isOverLimit,
  keepRaw,
  keepUnknown,
  keepUnknownFields,
  type ConverseState,
  type EmitEvent,
} from "./state.ts";
import { CONVERSE_OUTCOMES } from "./stop-reasons.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ConverseOptions {
  /**
   * Characters of text, arguments and results kept per turn. A larger turn fails with `turn_too_large`. A response of
   * the service has at most 100 MB. Default: 100,000,000.
   */
  readonly maxCharacters?: number;
  /**
   * The outcome of each stop reason. For dialects with the same events but different stop reasons. Default: the stop
   * reasons of Converse and Harness.
   */
  readonly outcomes?: ReadonlyMap<string, Outcome>;
}

const DEFAULT_MAX_CHARACTERS = 100_000_000;

/**
 * Creates a fold for the events of InvokeHarness and ConverseStream, and for the Converse chunks inside Strands events.
 *
 * An invocation may stream several messages: assistant, tool results as user, assistant again. Block indexes restart
 * with each message and may be reused inside a message. The fold therefore identifies tool calls by their id and blocks
 * by a counter; an index only selects the open block for a fragment.
 *
 * ```ts
 * const events = runCodec(createConverseFold(), messages); // the last event has the type "end"
 * ```
 */
export function createConverseFold(
  options: ConverseOptions = {},
): Codec<ConverseState, StreamMessage, ProviderEvent> {
  const { maxCharacters = DEFAULT_MAX_CHARACTERS, outcomes = CONVERSE_OUTCOMES } = options;
  return {
    initial: () => ({
      message: null,
      messageCount: 0,
      blockCount: 0,
      slots: new Map(),
      toolCalls: new Map(),
      usage: null,
      failure: null,
      hasEnded: false,
      denial: null,
      characters: 0,
      maxCharacters,
      outcomes,
      diagnosticCounts: new Map(),
      unknownFields: new Map(),
    }),
    step: foldMessage,
    finish: endTurn,
  };
}

function foldMessage(state: ConverseState, message: StreamMessage, emit: EmitEvent): void {
  switch (message.type) {
    case "event":
      if (state.hasEnded && !isExceptionName(message.name)) {
        const note = `"${message.name}" came after the failure that ended the turn`;
        diagnose(state, "event_after_end", note, emit);
      }
      return foldEvent(state, message.name, message.payload, emit);
    case "exception":
      return foldException(state, message.name, message.payload, emit);
    case "malformed":
      return foldMalformed(state, message, emit);
    case "fault":
      diagnose(state, message.diagnostic.code, message.diagnostic.message, emit);
      if (message.failure !== undefined) recordFailure(state, message.failure);
      return;
    case "failure":
      state.hasEnded = true;
      return recordFailure(state, message.failure);
    default:
      message satisfies never;
  }
}

function foldEvent(state: ConverseState, name: string, payload: unknown, emit: EmitEvent): void {
  if (isOverLimit(state)) return;
  // A null payload is treated as an empty object.
  const fields = isObject(payload) ? payload : {};
  switch (name) {
    case "contentBlockDelta":
      return foldDelta(state, fields, emit);
    case "contentBlockStart":
      return foldStart(state, fields, emit);
    case "contentBlockStop":
      return stopBlock(state, fields, emit);
    case "messageStart":
      return startMessage(state, fields, emit);
    case "messageStop":
      return stopMessage(state, fields, emit);
    case "metadata":
      return foldMetadata(state, fields, emit);
    case "hookEvent":
      return foldHook(state, fields, emit);
    default:
      // A decoded capture contains exceptions as ordinary members of the event union.
      if (isExceptionName(name)) return foldException(state, name, payload, emit);
      return keepUnknown(state, { what: "event", name, raw: payload }, emit);
  }
}

function stopBlock(state: ConverseState, fields: Fields, emit: EmitEvent): void {
  keepUnknownFields(state, CONTENT_BLOCK_STOP, fields, emit);
  const key = toSlotKey(fields["contentBlockIndex"]);
  const slot = state.slots.get(key);
  if (slot === undefined || isEmptySlot(slot)) {
    return diagnose(
      state,
      "block_stop_unmatched",
      "A stop event arrived for a block which is not open",
      emit,
    );
  }
  closeSlots(state, [slot], emit, EXPLICIT);
  state.slots.delete(key);
}

function foldMetadata(state: ConverseState, fields: Fields, emit: EmitEvent): void {
  keepUnknownFields(state, METADATA, fields, emit);
  const { usage: counts, metrics } = fields;
  if (isObject(counts)) keepUnknownFields(state, METADATA_USAGE, counts, emit);
  if (isObject(metrics)) keepUnknownFields(state, METADATA_METRICS, metrics, emit);
  const reading = readUsage(counts);
  if (reading === undefined) return;
  for (const name of reading.invalidFields) {
    diagnose(state, "usage_invalid", `Usage field "${name}" is not a non-negative number`, emit);
  }
  const { usage } = reading;
  state.usage = state.usage === null ? usage : addUsage(state.usage, usage);
  const latencyMs = isObject(metrics) ? metrics["latencyMs"] : undefined;
  if (typeof latencyMs === "number") emit({ type: "usage", usage, latencyMs });
  else emit({ type: "usage", usage });
}

function foldHook(state: ConverseState, fields: Fields, emit: EmitEvent): void {
  keepUnknownFields(state, HOOK_EVENT, fields, emit);
  const decision = readStringOr(fields["decision"], undefined);
  const reason = readStringOr(fields["reason"], undefined);
  const event: HookFired = {
    type: "hook",
    id: readStringOr(fields["hookEventId"], ""),
    name: readStringOr(fields["name"], ""),
    stage: readStringOr(fields["type"], ""),
    ...omitUndefined({ decision, reason }),
  };
  if (decision === "deny") {
    state.denial = { hook: event.name, ...omitUndefined({ reason }) };
  }
  emit(event);
}

/** The first failure decides the outcome of the turn. A later exception is kept raw as an unknown event. */
function foldException(
  state: ConverseState,
  name: string,
  payload: unknown,
  emit: EmitEvent,
): void {
  state.hasEnded = true;
  if (state.failure !== null) {
    keepRaw(state, { what: "event", name, raw: payload }, emit);
    const note = `"${name}" came after the failure that decided the turn`;
    return diagnose(state, "failure_repeated", note, emit);
  }
  const fields = isObject(payload) ? payload : {};
  const providerMessage = readStringOr(fields["message"], readStringOr(fields["Message"], ""));
  recordFailure(state, {
    code: "stream_exception",
    message:
      providerMessage === ""
        ? `The provider ended the stream with ${name}`
        : `${name}: ${providerMessage}`,
    details: { type: name, payload },
  });
}

/** An unreadable body fails the turn if the event carries content, because content is then missing. */
function foldMalformed(
  state: ConverseState,
  message: Extract<StreamMessage, { type: "malformed" }>,
  emit: EmitEvent,
): void {
  if (isOverLimit(state)) return;
  const { name, reason, raw } = message;
  state.characters += raw.length + PIECE_OVERHEAD;
  emit({ type: "unknown", what: "event", name, raw });
  diagnose(state, "malformed_event", reason, emit);
  if (name === "" || TURN_EVENT_NAMES.has(name)) {
    recordFailure(state, { code: "malformed_event", message: reason, details: { event: name } });
  }
}

function recordFailure(state: ConverseState, failure: Failure): void {
  state.failure ??= failure;
}

function readStringOr<Fallback>(value: unknown, fallback: Fallback): string | Fallback {
  return typeof value === "string" ? value : fallback;
}

interface UsageReading {
  readonly usage: Usage;
  /** Names of fields whose value is not a non-negative number. */
  readonly invalidFields: readonly string[];
}

/** Every count is optional on the wire, although the service model marks some as required. */
function readUsage(raw: unknown): UsageReading | undefined {
  if (!isObject(raw)) return undefined;
  const invalidFields: string[] = [];
  const count = (name: (typeof USAGE_COUNTS)[number]): number | undefined => {
    const value = raw[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
    invalidFields.push(name);
    return undefined;
  };
  const inputTokens = count("inputTokens") ?? 0;
  const outputTokens = count("outputTokens") ?? 0;
  const cacheReadTokens = count("cacheReadInputTokens") ?? 0;
  const cacheWriteTokens = count("cacheWriteInputTokens") ?? 0;
  const sum = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  const totalTokens = count("totalTokens") ?? sum;
  return {
    usage: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, totalTokens },
    invalidFields,
  };
}
