import type { Codec, Emit } from "../../domain/codec.ts";
import type { FrameError } from "../../domain/errors.ts";
import { parseJson } from "../../domain/json.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { converseFold } from "../converse/fold.ts";
import { isUnionEvent, readUnionEvent } from "../converse/parse.ts";
import { jsonArrayDecoder } from "../framing/json-array.ts";
import { jsonLinesDecoder } from "../framing/json-lines.ts";
import { strandsFold } from "../strands/fold.ts";
import { withOffset } from "./harness-stream.ts";
import { jsonDocumentDecoder } from "./json-document.ts";

/** How decoded events lie in a capture: elements of an array, lines, or one document. */
export type JsonLayout = "array" | "lines" | "document";

export interface JsonStreamState {
  readonly framing: unknown;
  /** Chosen by the first value: a member of the Converse event union, or something that Strands sent. */
  dialect: Dialect | null;
  offset: number;
}

/** A fold with its state. */
interface Dialect {
  step(item: Item, emit: Emit<ProviderEvent>): void;
  finish(emit: Emit<ProviderEvent>): void;
}

type Item =
  | { readonly type: "element" | "line"; readonly text: string; readonly offset: number }
  | { readonly type: "failure"; readonly error: FrameError };

/** A stream that was captured after decoding, as JSON: bytes in, events out. */
export function jsonStream(layout: JsonLayout): Codec<JsonStreamState, Uint8Array, ProviderEvent> {
  const framing = framingFor(layout);
  function fold(state: JsonStreamState, emit: Emit<ProviderEvent>): Emit<Item> {
    const placed: Emit<ProviderEvent> = (event) => emit(withOffset(event, state.offset));
    return (item) => {
      state.offset = item.type === "failure" ? item.error.offset : item.offset;
      state.dialect ??= dialectOf(item);
      state.dialect.step(item, placed);
    };
  }
  return {
    initial: () => ({ framing: framing.initial(), dialect: null, offset: 0 }),
    step: (state, chunk, emit) => framing.step(state.framing, chunk, fold(state, emit)),
    finish(state, emit) {
      framing.finish(state.framing, fold(state, emit));
      state.dialect ??= converseDialect();
      state.dialect.finish((event) => emit(withOffset(event, state.offset)));
    },
  };
}

function framingFor(layout: JsonLayout): Codec<unknown, Uint8Array, Item> {
  switch (layout) {
    case "array":
      return jsonArrayDecoder();
    case "lines":
      return jsonLinesDecoder();
    case "document":
      return jsonDocumentDecoder();
    default:
      return layout satisfies never;
  }
}

function dialectOf(item: Item): Dialect {
  const parsed = item.type === "failure" ? undefined : parseJson(item.text);
  return parsed?.ok === true && isUnionEvent(parsed.value) ? converseDialect() : strandsDialect();
}

function converseDialect(): Dialect {
  const fold = converseFold();
  const state = fold.initial();
  return {
    step(item, emit) {
      if (item.type === "failure") {
        return fold.step(state, { type: "failure", failure: item.error.toFailure() }, emit);
      }
      const { text: raw } = item;
      const parsed = parseJson(raw);
      if (parsed.ok)
        for (const message of readUnionEvent(parsed.value)) fold.step(state, message, emit);
      else fold.step(state, { type: "malformed", name: "", reason: parsed.reason, raw }, emit);
    },
    finish: (emit) => fold.finish(state, emit),
  };
}

function strandsDialect(): Dialect {
  const fold = strandsFold();
  const state = fold.initial();
  return {
    step(item, emit) {
      const input =
        item.type === "failure"
          ? ({ type: "failure", failure: item.error.toFailure() } as const)
          : ({ type: "event", event: "", data: item.text } as const);
      fold.step(state, input, emit);
    },
    finish: (emit) => fold.finish(state, emit),
  };
}
