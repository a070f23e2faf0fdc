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

export interface ConverseOptions {
  /** Text, arguments and results kept of one turn, in characters. A service answer has at most 100 MB. */
  readonly maxCharacters?: number;
  /** What each reason means, for a dialect that is told in these events but has its own words for why it stopped. */
  readonly outcomes?: ReadonlyMap<string, Outcome>;
}

const DEFAULT_MAX_CHARACTERS = 100_000_000;

/**
 * Folds the stream of InvokeHarness, of ConverseStream, or the chunks that Strands passes on.
 *
 * One invocation may stream several messages (assistant, then tool results as user, then assistant again), each
 * with block indexes that start again and may even be reused within a message. So calls are known by their id,
 * blocks by a number that counts openings, and an index only says where a fragment belongs.
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
  // A null payload says as little as an empty one.
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
      // A decoded capture holds exceptions as plain members of the event union.
      if (isExceptionName(name)) return foldException(state, name, payload, emit);
      return keepUnknown(state, { what: "event", name, raw: payload }, emit);
  }
}

function stopBlock(state: ConverseState, fields: Fields, emit: EmitEvent): void {
  keepUnknownFields(state, CONTENT_BLOCK_STOP, fields, emit);
  const key = toSlotKey(fields["contentBlockIndex"]);
  const slot = state.slots.get(key);
  if (slot === undefined || isEmptySlot(slot)) {
    return diagnose(state, "block_stop_unmatched", "A block was closed that is not open", emit);
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
    diagnose(state, "usage_invalid", `Usage field "${name}" is not a count`, emit);
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
    ...(decision !== undefined && { decision }),
    ...(reason !== undefined && { reason }),
  };
  if (decision === "deny") {
    state.denial = { hook: event.name, ...(reason !== undefined && { reason }) };
  }
  emit(event);
}

/** The first failure decides the turn; an exception that follows it is kept as it came. */
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

/** A body that cannot be read is a hole in the turn if the event is one that carries the turn. */
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
  /** Fields that hold something else than a count. */
  readonly invalidFields: readonly string[];
}

/** Every number is optional on the wire, whatever the service's model says. */
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
