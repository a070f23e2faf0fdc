import type { Codec, Emit } from "../../domain/codec.ts";
import type { Failure } from "../../domain/errors.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { converseFold } from "../converse/fold.ts";
import { isUnionEvent, readUnionEvent } from "../converse/parse.ts";
import type { ConverseState } from "../converse/state.ts";
import { isAgentEvent } from "../strands/agent-event.ts";
import { strandsFold } from "../strands/fold.ts";
import type { StrandsState } from "../strands/state.ts";
import { withOffset } from "./with-offset.ts";

/** One decoded event of a capture, or what is wrong at this point of it. */
export type Captured = { readonly offset: number } & (
  | { readonly type: "value"; readonly value: unknown; readonly size: number }
  /** The whole of a capture in one value. */
  | { readonly type: "document"; readonly value: unknown; readonly strange: StrangeDocument }
  | { readonly type: "unreadable"; readonly raw: string; readonly reason: string }
  | { readonly type: "failure"; readonly failure: Failure }
);

/** What a document becomes of which nothing is known. */
export type StrangeDocument = "structured-result" | "unknown";

export interface CapturedState {
  /** Chosen by the first value that tells. */
  dialect: Dialect | null;
  /** What came before that value, and how much it is in characters. */
  waiting: Captured[];
  size: number;
  /** Where the last of them lies. */
  offset: number;
}

type Dialect =
  | { readonly name: "converse"; readonly state: ConverseState }
  | { readonly name: "strands"; readonly state: StrandsState };

const MOST_WAITING = 1000;
const MOST_WAITING_CHARACTERS = 4 * 1024 * 1024;

/** Folds decoded events of either dialect. */
export const capturedEvents: Codec<CapturedState, Captured, ProviderEvent> = {
  initial: () => ({ dialect: null, waiting: [], size: 0, offset: 0 }),
  step(state, captured, emit) {
    state.offset = captured.offset;
    if (state.dialect !== null) return foldCaptured(state.dialect, captured, emit);
    state.waiting.push(captured);
    if (captured.type === "value") state.size += captured.size;
    if (captured.type === "unreadable") state.size += captured.raw.length;
    const isFull = state.waiting.length >= MOST_WAITING || state.size > MOST_WAITING_CHARACTERS;
    const name = dialectOf(captured) ?? (isFull ? "strands" : undefined);
    if (name !== undefined) settle(state, name, emit);
  },
  finish(state, emit) {
    const { name, state: folded } = state.dialect ?? settle(state, "strands", emit);
    const placed: Emit<ProviderEvent> = (event) => emit(withOffset(event, state.offset));
    if (name === "converse") converse.finish(folded, placed);
    else strands.finish(folded, placed);
  },
};

const converse = converseFold();
const strands = strandsFold();

function dialectOf(captured: Captured): Dialect["name"] | undefined {
  if (captured.type !== "value" && captured.type !== "document") return undefined;
  if (isUnionEvent(captured.value)) return "converse";
  return isAgentEvent(captured.value) ? "strands" : undefined;
}

function settle(state: CapturedState, name: Dialect["name"], emit: Emit<ProviderEvent>): Dialect {
  const dialect: Dialect =
    name === "converse" ? { name, state: converse.initial() } : { name, state: strands.initial() };
  state.dialect = dialect;
  for (const captured of state.waiting) foldCaptured(dialect, captured, emit);
  state.waiting = [];
  return dialect;
}

function foldCaptured(dialect: Dialect, captured: Captured, emit: Emit<ProviderEvent>): void {
  const placed: Emit<ProviderEvent> = (event) => emit(withOffset(event, captured.offset));
  if (dialect.name === "converse") foldConverse(dialect.state, captured, placed);
  else foldStrands(dialect.state, captured, placed);
}

function foldConverse(state: ConverseState, captured: Captured, emit: Emit<ProviderEvent>): void {
  switch (captured.type) {
    case "value":
    case "document":
      for (const message of readUnionEvent(captured.value)) converse.step(state, message, emit);
      return;
    case "unreadable":
      return converse.step(state, { ...captured, type: "malformed", name: "" }, emit);
    case "failure":
      return converse.step(state, captured, emit);
    default:
      captured satisfies never;
  }
}

function foldStrands(state: StrandsState, captured: Captured, emit: Emit<ProviderEvent>): void {
  switch (captured.type) {
    case "value":
    case "failure":
      return strands.step(state, captured, emit);
    case "document":
      return foldDocument(state, captured, emit);
    case "unreadable":
      return foldConverse(state.converse, captured, emit);
    default:
      captured satisfies never;
  }
}

/** The fold gives a document back as a whole when it knows nothing in it. */
function foldDocument(
  state: StrandsState,
  { value, strange }: Extract<Captured, { type: "document" }>,
  emit: Emit<ProviderEvent>,
): void {
  strands.step(state, { type: "body", value }, (event) => {
    const isStrange = event.type === "activity" && event.raw === value;
    if (isStrange && strange === "unknown")
      emit({ type: "unknown", what: "event", name: "document", raw: value });
    else emit(event);
  });
}
