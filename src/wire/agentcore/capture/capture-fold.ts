import type { Codec, Emit } from "../../../domain/codec.ts";
import type { Failure } from "../../../domain/errors.ts";
import type { ProviderEvent } from "../../../domain/provider/provider-event.ts";
import { createConverseFold } from "../../converse/fold.ts";
import { isUnionEvent, readUnionEvent } from "../../converse/parse.ts";
import type { ConverseState } from "../../converse/state.ts";
import { isStrandsEvent } from "../../strands/strands-event.ts";
import { createStrandsFold } from "../../strands/fold.ts";
import type { StrandsState } from "../../strands/state.ts";
import { addDiagnosticOffset } from "../response-body.ts";

/** One decoded event of a capture, or the problem at this position. */
export type CapturedItem = { readonly offset: number } & (
  | { readonly type: "value"; readonly value: unknown; readonly size: number }
  /** A capture with a single JSON value. */
  | {
      readonly type: "document";
      readonly value: unknown;
      readonly unknownDocument: UnknownDocumentMode;
    }
  | { readonly type: "unreadable"; readonly raw: string; readonly reason: string }
  | { readonly type: "failure"; readonly failure: Failure }
);

/** How a document of unknown structure is emitted: as an app's structured result, or as an unknown event. */
export type UnknownDocumentMode = "structured-result" | "unknown";

export interface CaptureState {
  /** The detected dialect. Null until the first event specific to a dialect. */
  dialect: Dialect | null;
  /**
   * Items received before the dialect was detected. At most 1,000 items or 4 Mi characters are buffered; then Strands
   * is assumed.
   */
  pendingItems: CapturedItem[];
  pendingCharacters: number;
  /** Position of the last item in the capture. */
  offset: number;
}

type Dialect =
  | { readonly name: "converse"; readonly state: ConverseState }
  | { readonly name: "strands"; readonly state: StrandsState };

const MAX_PENDING_ITEMS = 1000;
const MAX_PENDING_CHARACTERS = 4 * 1024 * 1024;

/** Folds decoded events and detects their dialect, Converse or Strands. */
export const captureFold: Codec<CaptureState, CapturedItem, ProviderEvent> = {
  initial: () => ({ dialect: null, pendingItems: [], pendingCharacters: 0, offset: 0 }),
  step(state, item, emit) {
    state.offset = item.offset;
    if (state.dialect !== null) return foldCapturedItem(state.dialect, item, emit);
    state.pendingItems.push(item);
    if (item.type === "value") state.pendingCharacters += item.size;
    if (item.type === "unreadable") state.pendingCharacters += item.raw.length;
    const isFull =
      state.pendingItems.length >= MAX_PENDING_ITEMS ||
      state.pendingCharacters > MAX_PENDING_CHARACTERS;
    const name = detectDialect(item) ?? (isFull ? "strands" : undefined);
    if (name !== undefined) selectDialect(state, name, emit);
  },
  finish(state, emit) {
    const { name, state: dialectState } = state.dialect ?? selectDialect(state, "strands", emit);
    const emitWithOffset: Emit<ProviderEvent> = (event) =>
      emit(addDiagnosticOffset(event, state.offset));
    if (name === "converse") converse.finish(dialectState, emitWithOffset);
    else strands.finish(dialectState, emitWithOffset);
  },
};

const converse = createConverseFold();
const strands = createStrandsFold();

function detectDialect(item: CapturedItem): Dialect["name"] | undefined {
  if (item.type !== "value" && item.type !== "document") return undefined;
  if (isUnionEvent(item.value)) return "converse";
  return isStrandsEvent(item.value) ? "strands" : undefined;
}

function selectDialect(
  state: CaptureState,
  name: Dialect["name"],
  emit: Emit<ProviderEvent>,
): Dialect {
  const dialect: Dialect =
    name === "converse" ? { name, state: converse.initial() } : { name, state: strands.initial() };
  state.dialect = dialect;
  for (const item of state.pendingItems) foldCapturedItem(dialect, item, emit);
  state.pendingItems = [];
  return dialect;
}

function foldCapturedItem(dialect: Dialect, item: CapturedItem, emit: Emit<ProviderEvent>): void {
  const emitWithOffset: Emit<ProviderEvent> = (event) =>
    emit(addDiagnosticOffset(event, item.offset));
  if (dialect.name === "converse") foldConverse(dialect.state, item, emitWithOffset);
  else foldStrands(dialect.state, item, emitWithOffset);
}

function foldConverse(state: ConverseState, item: CapturedItem, emit: Emit<ProviderEvent>): void {
  switch (item.type) {
    case "value":
    case "document":
      for (const message of readUnionEvent(item.value)) converse.step(state, message, emit);
      return;
    case "unreadable":
      return converse.step(state, { ...item, type: "malformed", name: "" }, emit);
    case "failure":
      return converse.step(state, item, emit);
    default:
      item satisfies never;
  }
}

function foldStrands(state: StrandsState, item: CapturedItem, emit: Emit<ProviderEvent>): void {
  switch (item.type) {
    case "value":
    case "failure":
      return strands.step(state, item, emit);
    case "document":
      return foldDocument(state, item, emit);
    case "unreadable":
      return foldConverse(state.converse, item, emit);
    default:
      item satisfies never;
  }
}

/** The fold emits a document as one activity event if its structure is unknown. */
function foldDocument(
  state: StrandsState,
  { value, unknownDocument }: Extract<CapturedItem, { type: "document" }>,
  emit: Emit<ProviderEvent>,
): void {
  strands.step(state, { type: "body", value }, (event) => {
    const isUnknownDocument = event.type === "activity" && event.raw === value;
    if (isUnknownDocument && unknownDocument === "unknown")
      emit({ type: "unknown", what: "event", name: "document", raw: value });
    else emit(event);
  });
}
