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
  /** The message at hand, or the last one; null before the first. */
  message: OpenMessage | null;
  messageCount: number;
  blockCount: number;
  /** What is open in the message at hand, by the provider's index. An absent index is a slot of its own. */
  readonly slots: Map<unknown, Slot>;
  /** Every call of the stream, in the order first seen. */
  readonly toolCalls: Map<string, ToolCallState>;
  usage: Usage | null;
  /** The first failure counts: later ones tend to be its consequences. */
  failure: Failure | null;
  /** The provider or the transport said that nothing more follows. */
  hasEnded: boolean;
  denial: { readonly hook: string; readonly reason?: string } | null;
  /** Characters kept so far, against `maxCharacters`; everything kept counts for some even if it has none. */
  characters: number;
  readonly maxCharacters: number;
  /** What each reason of the dialect means when it is the last one. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly diagnosticCounts: Map<DiagnosticCode, number>;
  /** Values of unknown fields that were kept, as JSON text, by the place of the field. */
  readonly unknownFields: Map<string, Set<string>>;
}

export interface OpenMessage {
  readonly number: number;
  readonly role: Role;
  isClosed: boolean;
  reason: string | null;
}

/** One index of the provider. Kinds that should not share an index still keep apart here. */
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
  /** The first half of a surrogate pair, waiting for the delta that brings the second. */
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
  /** Where its arguments are being streamed, or last were. */
  slot: Slot | null;
}

export type EmitEvent = Emit<ProviderEvent>;

/** What keeping a block, a part, a slot or a message costs beside its text: a stream of empty ones must end too. */
export const PIECE_OVERHEAD = 64;

/** Whether the turn holds more than it may keep. It fails by that. */
export function isOverLimit(state: ConverseState): boolean {
  const { characters, maxCharacters } = state;
  if (characters <= maxCharacters) return false;
  const message = `The turn holds more than ${maxCharacters} characters; the rest was not read`;
  state.failure ??= { code: "turn_too_large", message, details: { maxCharacters } };
  return true;
}

/** How often one kind of anomaly is reported in full; more are counted, so that a broken stream cannot flood a log. */
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

/** Keeps what this version does not know, and says so. */
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

/** Passes something on as it came, within what a turn may keep. */
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

/** Keeps the fields of a known structure that this version does not know, each different value once. */
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

/** Remembers a value that was not seen at its place, within what a turn may keep. */
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
