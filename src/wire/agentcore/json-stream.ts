import type { Codec, Emit } from "../../domain/codec.ts";
import { FrameError } from "../../domain/errors.ts";
import { hasTooManyValues, isObject, MAX_JSON_VALUES } from "../../domain/json.ts";
import { detached } from "../../domain/kept-text.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { jsonArrayDecoder, type JsonArrayItem } from "../framing/json-array.ts";
import { jsonLinesDecoder, type JsonLinesItem } from "../framing/json-lines.ts";
import { parseLenientJson } from "../strands/lenient-json.ts";
import {
  capturedEvents,
  type Captured,
  type CapturedState,
  type StrangeDocument,
} from "./captured-events.ts";
import { splitJsonValues } from "./split-json-values.ts";
import { wholeBody, type WholeBodyItem } from "./whole-body.ts";

/** How decoded events lie in a capture: elements of an array, lines, or one document. */
export type JsonLayout = "array" | "lines" | "document";

export interface JsonStreamOptions {
  /** The most bytes of one element or line. */
  readonly maxEventBytes?: number;
  /** The most bytes of a document, which is kept as a whole. */
  readonly maxDocumentBytes?: number;
  /** By default it is the structured result of an app. */
  readonly strangeDocument?: StrangeDocument;
}

export interface JsonStreamState {
  readonly framing: unknown;
  readonly events: CapturedState;
}

type Item = JsonArrayItem | JsonLinesItem | WholeBodyItem;

const DEFAULT_MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** A stream that was captured after decoding, as JSON: bytes in, events out. */
export function jsonStream(
  layout: JsonLayout,
  options: JsonStreamOptions = {},
): Codec<JsonStreamState, Uint8Array, ProviderEvent> {
  const { strangeDocument = "structured-result" } = options;
  const framing = framingFor(layout, options);
  function receive(state: JsonStreamState, emit: Emit<ProviderEvent>): Emit<Item> {
    return (item) => {
      for (const captured of valuesOf(item, strangeDocument))
        capturedEvents.step(state.events, captured, emit);
    };
  }
  return {
    initial: () => ({ framing: framing.initial(), events: capturedEvents.initial() }),
    step: (state, chunk, emit) => framing.step(state.framing, chunk, receive(state, emit)),
    finish(state, emit) {
      framing.finish(state.framing, receive(state, emit));
      capturedEvents.finish(state.events, emit);
    },
    isOver: (state) => framing.isOver?.(state.framing) ?? false,
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

function valuesOf(item: Item, strange: StrangeDocument): Iterable<Captured> {
  if (item.type === "failure") return [failed(item.error)];
  if (item.type === "body") return documentValues(item.text, strange);
  return [readValue(item.text, item.offset)];
}

/** What lies at `offset`, as far as one can tell. */
function readValue(text: string, offset: number): Captured {
  if (hasTooManyValues(text)) return failed(tooManyValues(offset));
  const parsed = parseLenientJson(text);
  if (parsed.ok) return { type: "value", value: parsed.value, size: text.length, offset };
  return { type: "unreadable", raw: detached(text), reason: parsed.reason, offset };
}

/** A document is many values one after another, or one. */
function* documentValues(text: string, strange: StrangeDocument): Generator<Captured> {
  const offset = 0;
  const [first = ""] = splitJsonValues(text);
  const isOne = first.length === text.trim().length;
  if (isOne) yield* wholeDocument(readValue(text, offset), strange);
  else for (const value of splitJsonValues(text)) yield readValue(value, offset);
}

/** One value holds a list of events, or is the whole answer of an app. */
function* wholeDocument(read: Captured, strange: StrangeDocument): Generator<Captured> {
  const { offset } = read;
  if (read.type === "unreadable") {
    const message = `The document is not JSON: ${read.reason}`;
    yield failed(new FrameError("frame_invalid", message, { offset }));
  } else if (read.type !== "value") {
    yield read;
  } else if (isObject(read.value) && Array.isArray(read.value["events"])) {
    for (const value of read.value["events"]) yield { type: "value", value, size: 0, offset };
  } else {
    yield { type: "document", value: read.value, strange, offset };
  }
}

function tooManyValues(offset: number): FrameError {
  const message = `The JSON at byte ${offset} holds more than ${MAX_JSON_VALUES} values`;
  return new FrameError("event_too_large", message, { offset });
}

function failed(error: FrameError): Captured {
  return { type: "failure", failure: error.toFailure(), offset: error.offset };
}
