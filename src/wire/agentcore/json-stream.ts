import type { Codec, Emit } from "../../domain/codec.ts";
import { FrameError, type Failure } from "../../domain/errors.ts";
import { isObject } from "../../domain/json.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { jsonArrayDecoder, type JsonArrayItem } from "../framing/json-array.ts";
import { jsonLinesDecoder, type JsonLinesItem } from "../framing/json-lines.ts";
import { parseLenientJson } from "../strands/lenient-json.ts";
import { capturedEvents, type Captured, type CapturedState } from "./captured-events.ts";
import { splitJsonValues } from "./split-json-values.ts";
import { withOffset } from "./with-offset.ts";
import { wholeBody, type WholeBodyItem } from "./whole-body.ts";

/** How decoded events lie in a capture: elements of an array, lines, or one document. */
export type JsonLayout = "array" | "lines" | "document";

export interface JsonStreamOptions {
  /** The most bytes of one element or line. */
  readonly maxEventBytes?: number;
  /** The most bytes of a document, which is kept as a whole. */
  readonly maxDocumentBytes?: number;
}

export interface JsonStreamState {
  readonly framing: unknown;
  readonly events: CapturedState;
  offset: number;
}

type Item = JsonArrayItem | JsonLinesItem | WholeBodyItem;

const DEFAULT_MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** A stream that was captured after decoding, as JSON: bytes in, events out. */
export function jsonStream(
  layout: JsonLayout,
  options: JsonStreamOptions = {},
): Codec<JsonStreamState, Uint8Array, ProviderEvent> {
  const framing = framingFor(layout, options);
  function receive(state: JsonStreamState, emit: Emit<ProviderEvent>): Emit<Item> {
    const placed: Emit<ProviderEvent> = (event) => emit(withOffset(event, state.offset));
    return (item) => {
      state.offset = offsetOf(item);
      for (const value of valuesOf(item)) capturedEvents.step(state.events, value, placed);
    };
  }
  return {
    initial: () => ({ framing: framing.initial(), events: capturedEvents.initial(), offset: 0 }),
    step: (state, chunk, emit) => framing.step(state.framing, chunk, receive(state, emit)),
    finish(state, emit) {
      framing.finish(state.framing, receive(state, emit));
      capturedEvents.finish(state.events, (event) => emit(withOffset(event, state.offset)));
    },
  };
}

function framingFor(
  layout: JsonLayout,
  { maxEventBytes, maxDocumentBytes = DEFAULT_MAX_DOCUMENT_BYTES }: JsonStreamOptions,
): Codec<unknown, Uint8Array, Item> {
  switch (layout) {
    case "array":
      return jsonArrayDecoder(
        maxEventBytes === undefined ? {} : { maxElementBytes: maxEventBytes },
      );
    case "lines":
      return jsonLinesDecoder(maxEventBytes === undefined ? {} : { maxLineBytes: maxEventBytes });
    case "document":
      return wholeBody(maxDocumentBytes);
    default:
      return layout satisfies never;
  }
}

function offsetOf(item: Item): number {
  if (item.type === "failure") return item.error.offset;
  return item.type === "body" ? 0 : item.offset;
}

function valuesOf(item: Item): Captured[] {
  if (item.type === "failure") return [failed(item.error.toFailure())];
  return item.type === "body" ? documentValues(item.text) : [readValue(item.text)];
}

function readValue(text: string): Captured {
  const parsed = parseLenientJson(text);
  if (parsed.ok) return { type: "value", value: parsed.value, size: text.length };
  return { type: "unreadable", raw: text, reason: parsed.reason };
}

/** A document holds a list of events, is the whole answer of an app, or is many values one after another. */
function documentValues(text: string): Captured[] {
  const parsed = parseLenientJson(text);
  if (parsed.ok) {
    const events = isObject(parsed.value) ? parsed.value["events"] : undefined;
    if (!Array.isArray(events)) return [{ type: "document", value: parsed.value }];
    return events.map((value): Captured => ({ type: "value", value, size: 0 }));
  }
  const values = splitJsonValues(text);
  if (values.length > 1) return values.map(readValue);
  const message = `The document is not JSON: ${parsed.reason}`;
  return [failed(new FrameError("frame_invalid", message, { offset: 0 }).toFailure())];
}

function failed(failure: Failure): Captured {
  return { type: "failure", failure };
}
