import type { Emit } from "../../domain/codec.ts";
import type { DiagnosticCode } from "../../domain/diagnostic.ts";
import type { Failure } from "../../domain/errors.ts";
import { toJsonText } from "../../data/json.ts";
import type { TextBuilder } from "../../text/text-builder.ts";
import type {
  Outcome,
  ProviderEvent,
  Role,
  UnknownEvent,
} from "../../domain/provider/provider-event.ts";
import type { Runner, ToolResultPart } from "../../domain/tools/tool-call.ts";
import type { Usage } from "../../domain/usage.ts";
import type { Fields, Shape } from "./schema.ts";

export interface ConverseState {
  /** The current or the last message. Null before the first message. */
  message: OpenMessage | null;
  messageCount: number;
  blockCount: number;
  /** Open blocks of the current message by the provider's index. An absent index is a separate slot. */
  readonly slots: Map<unknown, Slot>;
  /** All tool calls of the stream, in the order of their first start. */
  readonly toolCalls: Map<string, ToolCallState>;
  usage: Usage | null;
  /** The first failure. Later failures are usually its consequences and are ignored. */
  failure: Failure | null;
  /** The provider or the transport reported the end of the stream. */
  hasEnded: boolean;
  denial: { readonly hook: string; readonly reason?: string } | null;
  /** Characters kept so far, limited by `maxCharacters`. Includes a fixed overhead per piece (see `PIECE_OVERHEAD`). */
  characters: number;
  readonly maxCharacters: number;
  /** The outcome of each stop reason, applied to the reason of the last message. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly diagnosticCounts: Map<DiagnosticCode, number>;
  /** Kept values of unknown fields as JSON text, by the path of the field. */
  readonly unknownFields: Map<string, Set<string>>;
}

export interface OpenMessage {
  readonly number: number;
  readonly role: Role;
  isClosed: boolean;
  reason: string | null;
}

/**
 * The open blocks at one index of the provider. Blocks of different kinds stay separate, even if the provider reuses
 * the index.
 */
export interface Slot {
  content: ContentBlock | null;
  toolCall: ToolCallBlock | null;
  result: ResultBlock | null;
}

export type Block = ContentBlock | ToolCallBlock | ResultBlock;

interface BlockPosition {
  readonly message: number;
  readonly number: number;
}

interface StreamedText extends TextBuilder {
  /** The first half of a surrogate pair, held until the next delta delivers the second half. */
  carry: string;
}

export interface ContentBlock extends BlockPosition, StreamedText {
  readonly kind: "text" | "reasoning" | "redacted";
  readonly signature: TextBuilder;
  readonly redacted: string[];
}

export interface ToolCallBlock extends BlockPosition, StreamedText {
  readonly kind: "call";
  readonly toolCall: ToolCallState;
}

export interface ResultBlock extends BlockPosition {
  readonly kind: "result";
  readonly toolCallId: string;
  readonly isError: boolean;
  readonly parts: ToolResultPart[];
  readonly metadata: TextBuilder;
}

export interface ToolCallState {
  readonly id: string;
  name: string;
  runBy: Runner;
  server: string | undefined;
  isAnswered: boolean;
  /** The slot of the block with the arguments, current or last. Null before the block opens. */
  slot: Slot | null;
}

export type EmitEvent = Emit<ProviderEvent>;

/**
 * Characters charged for a block, part, slot or message in addition to its text, so an endless stream of empty pieces
 * reaches the limit.
 */
export const PIECE_OVERHEAD = 64;

/** Returns whether the turn exceeds its limit. If so, the turn fails with `turn_too_large`. */
export function isOverLimit(state: ConverseState): boolean {
  const { characters, maxCharacters } = state;
  if (characters <= maxCharacters) return false;
  const message = `The turn holds more than ${maxCharacters} characters; the rest was not read`;
  state.failure ??= { code: "turn_too_large", message, details: { maxCharacters } };
  return true;
}

/**
 * The number of full reports per diagnostic code. Further occurrences are only counted, so a broken stream cannot flood
 * a log.
 */
const MAX_FULL_REPORTS = 16;

export function diagnose(
  state: ConverseState,
  code: DiagnosticCode,
  message: string,
  emit: EmitEvent,
): void {
  const count = (state.diagnosticCounts.get(code) ?? 0) + 1;
  state.diagnosticCounts.set(code, count);
  if (count <= MAX_FULL_REPORTS) emit({ type: "diagnostic", diagnostic: { code, message } });
}

export function reportRepeatedDiagnostics(state: ConverseState, emit: EmitEvent): void {
  for (const [code, total] of state.diagnosticCounts) {
    const count = total - MAX_FULL_REPORTS;
    if (count <= 0) continue;
    const message = `${count} more of the same`;
    emit({ type: "diagnostic", diagnostic: { code, message, count } });
  }
}

/** Emits unknown input unchanged, with a diagnostic. */
export function keepUnknown(
  state: ConverseState,
  unknownEvent: Omit<UnknownEvent, "type">,
  emit: EmitEvent,
): void {
  if (isOverLimit(state)) return;
  keepRaw(state, unknownEvent, emit);
  diagnose(
    state,
    "unknown_event",
    `Unknown ${unknownEvent.what} "${unknownEvent.name}" is kept as it came`,
    emit,
  );
}

/** Emits raw input unchanged, within the limit of the turn. */
export function keepRaw(
  state: ConverseState,
  unknownEvent: Omit<UnknownEvent, "type">,
  emit: EmitEvent,
): void {
  if (isOverLimit(state)) return;
  const size =
    typeof unknownEvent.raw === "string"
      ? unknownEvent.raw.length
      : toJsonText(unknownEvent.raw).length;
  state.characters += size + PIECE_OVERHEAD;
  emit({ type: "unknown", ...unknownEvent });
}

const MAX_UNKNOWN_FIELDS = 256;
const MAX_FIELD_NAME_LENGTH = 256;

/** Emits the unknown fields of a known structure, each different value once. */
export function keepUnknownFields(
  state: ConverseState,
  shape: Shape,
  fields: Fields,
  emit: EmitEvent,
): void {
  for (const name in fields) {
    if (shape.fields.has(name) || name.length > MAX_FIELD_NAME_LENGTH) continue;
    const fieldPath = `${shape.name}.${name}`;
    if (addNewValue(state, fieldPath, fields[name], shape.maxValues)) {
      emit({ type: "unknown", what: "field", name: fieldPath, raw: fields[name] });
      diagnose(state, "unknown_field", `Unknown field "${fieldPath}" is kept as it came`, emit);
    }
  }
}

/** Records a new value of a field. Returns false if the value is known or a limit is reached. */
function addNewValue(
  state: ConverseState,
  fieldPath: string,
  raw: unknown,
  maxValues: number,
): boolean {
  const { unknownFields } = state;
  const knownValues = unknownFields.get(fieldPath) ?? new Set();
  if (knownValues.size >= maxValues || isOverLimit(state)) return false;
  if (knownValues.size === 0 && unknownFields.size >= MAX_UNKNOWN_FIELDS) return false;
  const text = toJsonText(raw);
  if (knownValues.has(text)) return false;
  state.characters += text.length + PIECE_OVERHEAD;
  unknownFields.set(fieldPath, knownValues.add(text));
  return true;
}
