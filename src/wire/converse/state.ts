import type { Emit } from "../../domain/codec.ts";
import type { DiagnosticCode } from "../../domain/diagnostic.ts";
import type { Failure } from "../../domain/errors.ts";
import { jsonText } from "../../domain/json.ts";
import type { GatheredText } from "../../domain/kept-text.ts";
import type { Outcome, ProviderEvent, Role, UnknownSeen } from "../../domain/provider-event.ts";
import type { Runner, ToolResultPart } from "../../domain/tool.ts";
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
  readonly calls: Map<string, Call>;
  usage: Usage | null;
  /** The first failure counts: later ones tend to be its consequences. */
  failure: Failure | null;
  /** The provider or the transport said that nothing more follows. */
  ended: boolean;
  denial: { readonly hook: string; readonly reason?: string } | null;
  /** Characters kept so far, against `maxCharacters`; everything kept counts for some even if it has none. */
  characters: number;
  readonly maxCharacters: number;
  /** What each reason of the dialect means when it is the last one. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  readonly diagnosed: Map<DiagnosticCode, number>;
  /** Values of unknown fields that were kept, as JSON text, by the place of the field. */
  readonly unknownFields: Map<string, Set<string>>;
}

export interface OpenMessage {
  readonly number: number;
  readonly role: Role;
  closed: boolean;
  reason: string | null;
}

/** One index of the provider. Kinds that should not share an index still keep apart here. */
export interface Slot {
  content: ContentBlock | null;
  call: CallBlock | null;
  result: ResultBlock | null;
}

export type Block = ContentBlock | CallBlock | ResultBlock;

interface Placed {
  readonly message: number;
  readonly number: number;
}

interface Streamed extends GatheredText {
  /** The first half of a surrogate pair, waiting for the delta that brings the second. */
  carry: string;
}

export interface ContentBlock extends Placed, Streamed {
  readonly kind: "text" | "reasoning" | "redacted";
  readonly signature: GatheredText;
  readonly redacted: string[];
}

export interface CallBlock extends Placed, Streamed {
  readonly kind: "call";
  readonly call: Call;
}

export interface ResultBlock extends Placed {
  readonly kind: "result";
  readonly callId: string;
  readonly isError: boolean;
  readonly parts: ToolResultPart[];
  readonly metadata: GatheredText;
}

export interface Call {
  readonly id: string;
  name: string;
  runBy: Runner;
  server: string | undefined;
  answered: boolean;
  /** Where its arguments are being streamed, or last were. */
  slot: Slot | null;
}

export type Out = Emit<ProviderEvent>;

/** What keeping a block, a part, a slot or a message costs beside its text: a stream of empty ones must end too. */
export const COST_OF_A_PIECE = 64;

/** Whether the turn holds more than it may keep. It fails by that. */
export function isOverfull(state: ConverseState): boolean {
  const { characters, maxCharacters } = state;
  if (characters <= maxCharacters) return false;
  const message = `The turn holds more than ${maxCharacters} characters; the rest was not read`;
  state.failure ??= { code: "turn_too_large", message, details: { maxCharacters } };
  return true;
}

/** How often one kind of anomaly is reported in full; more are counted, so that a broken stream cannot flood a log. */
const REPORTED_IN_FULL = 16;

export function diagnose(
  state: ConverseState,
  code: DiagnosticCode,
  message: string,
  emit: Out,
): void {
  const seen = (state.diagnosed.get(code) ?? 0) + 1;
  state.diagnosed.set(code, seen);
  if (seen <= REPORTED_IN_FULL) emit({ type: "diagnostic", diagnostic: { code, message } });
}

export function reportCounted(state: ConverseState, emit: Out): void {
  for (const [code, seen] of state.diagnosed) {
    const count = seen - REPORTED_IN_FULL;
    if (count <= 0) continue;
    const message = `${count} more of the same`;
    emit({ type: "diagnostic", diagnostic: { code, message, count } });
  }
}

/** Keeps what this version does not know, and says so. */
export function keepUnknown(
  state: ConverseState,
  seen: Omit<UnknownSeen, "type">,
  emit: Out,
): void {
  if (isOverfull(state)) return;
  keepRaw(state, seen, emit);
  diagnose(state, "unknown_event", `Unknown ${seen.what} "${seen.name}" is kept as it came`, emit);
}

/** Passes something on as it came, within what a turn may keep. */
export function keepRaw(state: ConverseState, seen: Omit<UnknownSeen, "type">, emit: Out): void {
  if (isOverfull(state)) return;
  const size = typeof seen.raw === "string" ? seen.raw.length : jsonText(seen.raw).length;
  state.characters += size + COST_OF_A_PIECE;
  emit({ type: "unknown", ...seen });
}

const MOST_UNKNOWN_FIELDS = 256;
const LONGEST_FIELD_NAME = 256;

/** Keeps the fields of a known structure that this version does not know, each different value once. */
export function keepUnknownFields(
  state: ConverseState,
  shape: Shape,
  fields: Fields,
  emit: Out,
): void {
  for (const name in fields) {
    if (shape.fields.has(name) || name.length > LONGEST_FIELD_NAME) continue;
    const place = `${shape.name}.${name}`;
    if (isNewValue(state, place, fields[name], shape.keptValues)) {
      emit({ type: "unknown", what: "field", name: place, raw: fields[name] });
      diagnose(state, "unknown_field", `Unknown field "${place}" is kept as it came`, emit);
    }
  }
}

/** Remembers a value that was not seen at its place, within what a turn may keep. */
function isNewValue(state: ConverseState, place: string, raw: unknown, most: number): boolean {
  const { unknownFields } = state;
  const kept = unknownFields.get(place) ?? new Set();
  if (kept.size >= most || isOverfull(state)) return false;
  if (kept.size === 0 && unknownFields.size >= MOST_UNKNOWN_FIELDS) return false;
  const text = jsonText(raw);
  if (kept.has(text)) return false;
  state.characters += text.length + COST_OF_A_PIECE;
  unknownFields.set(place, kept.add(text));
  return true;
}
