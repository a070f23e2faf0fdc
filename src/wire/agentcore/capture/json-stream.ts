import { hasTooManyValues, isObject, MAX_JSON_VALUES } from "../../../data/json.ts";
import type { Codec, Emit } from "../../../domain/codec.ts";
import { FrameError } from "../../../domain/errors.ts";
import type { ProviderEvent } from "../../../domain/provider/provider-event.ts";
import { copyString } from "../../../text/text-builder.ts";
import { createJsonArrayDecoder, type JsonArrayItem } from "../../framing/json-array.ts";
import { createJsonLinesDecoder, type JsonLinesItem } from "../../framing/json-lines.ts";
import { parseLenientJson } from "../../strands/python/lenient-json.ts";
import { createWholeBodyReader, type WholeBodyItem } from "../response-body.ts";
import {
  captureFold,
  type CapturedItem,
  type CaptureState,
  type UnknownDocumentMode,
} from "./capture-fold.ts";

/** The layout of decoded events in a capture: array elements, lines, or one document. */
export type JsonLayout = "array" | "lines" | "document";

export interface JsonStreamOptions {
  /** Bytes of one element or line. Default: 64 MiB. */
  readonly maxEventBytes?: number;
  /** Bytes of a document, which is buffered as a whole. Default: 256 MiB. */
  readonly maxDocumentBytes?: number;
  /** How a document of unknown structure is emitted. Default: as the structured result of an app. */
  readonly unknownDocument?: UnknownDocumentMode;
}

export interface JsonStreamState {
  readonly framing: unknown;
  readonly events: CaptureState;
}

type Item = JsonArrayItem | JsonLinesItem | WholeBodyItem;

const DEFAULT_MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** Creates a decoder for a stream captured as decoded JSON: bytes in, provider events out. */
export function createJsonStream(
  layout: JsonLayout,
  options: JsonStreamOptions = {},
): Codec<JsonStreamState, Uint8Array, ProviderEvent> {
  const { unknownDocument = "structured-result" } = options;
  const framing = createFraming(layout, options);
  function receive(state: JsonStreamState, emit: Emit<ProviderEvent>): Emit<Item> {
    return (item) => {
      for (const capturedItem of readFrame(item, unknownDocument))
        captureFold.step(state.events, capturedItem, emit);
    };
  }
  return {
    initial: () => ({ framing: framing.initial(), events: captureFold.initial() }),
    step: (state, chunk, emit) => framing.step(state.framing, chunk, receive(state, emit)),
    finish(state, emit) {
      framing.finish(state.framing, receive(state, emit));
      captureFold.finish(state.events, emit);
    },
    isOver: (state) => framing.isOver?.(state.framing) ?? false,
  };
}

function createFraming(
  layout: JsonLayout,
  { maxEventBytes, maxDocumentBytes = DEFAULT_MAX_DOCUMENT_BYTES }: JsonStreamOptions,
): Codec<unknown, Uint8Array, Item> {
  switch (layout) {
    case "array":
      return createJsonArrayDecoder(
        maxEventBytes === undefined ? {} : { maxElementBytes: maxEventBytes },
      );
    case "lines":
      return createJsonLinesDecoder(
        maxEventBytes === undefined ? {} : { maxLineBytes: maxEventBytes },
      );
    case "document":
      return createWholeBodyReader(maxDocumentBytes);
    default:
      return layout satisfies never;
  }
}

function readFrame(item: Item, unknownDocument: UnknownDocumentMode): Iterable<CapturedItem> {
  if (item.type === "failure") return [toFailedItem(item.error)];
  if (item.type === "body") return readDocument(item.text, unknownDocument);
  return [readCapturedValue(item.text, item.offset)];
}

/** Reads the text at `offset` as one JSON value. Limits and syntax errors become items. */
function readCapturedValue(text: string, offset: number): CapturedItem {
  if (hasTooManyValues(text)) return toFailedItem(createTooManyValuesError(offset));
  const parsed = parseLenientJson(text);
  if (parsed.ok) return { type: "value", value: parsed.value, size: text.length, offset };
  return { type: "unreadable", raw: copyString(text), reason: parsed.reason, offset };
}

/** A document contains one value, or several values in sequence. */
function* readDocument(
  text: string,
  unknownDocument: UnknownDocumentMode,
): Generator<CapturedItem> {
  const offset = 0;
  const [first = ""] = splitJsonValues(text);
  const isSingleValue = first.length === text.trim().length;
  if (isSingleValue) yield* readWholeDocument(readCapturedValue(text, offset), unknownDocument);
  else for (const value of splitJsonValues(text)) yield readCapturedValue(value, offset);
}

/** A single value is an object with a list of events, or the complete response of an app. */
function* readWholeDocument(
  captured: CapturedItem,
  unknownDocument: UnknownDocumentMode,
): Generator<CapturedItem> {
  const { offset } = captured;
  if (captured.type === "unreadable") {
    const message = `The document is not JSON: ${captured.reason}`;
    yield toFailedItem(new FrameError("frame_invalid", message, { offset }));
  } else if (captured.type !== "value") {
    yield captured;
  } else if (isObject(captured.value) && Array.isArray(captured.value["events"])) {
    for (const value of captured.value["events"]) yield { type: "value", value, size: 0, offset };
  } else {
    yield { type: "document", value: captured.value, unknownDocument, offset };
  }
}

function createTooManyValuesError(offset: number): FrameError {
  const message = `The JSON at byte ${offset} has more than ${MAX_JSON_VALUES} values`;
  return new FrameError("event_too_large", message, { offset });
}

function toFailedItem(error: FrameError): CapturedItem {
  return { type: "failure", failure: error.toFailure(), offset: error.offset };
}

/** Splits text into the objects and arrays written in sequence, as printed by `jq`. */
function* splitJsonValues(text: string): Generator<string, void, undefined> {
  let start = 0;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") {
      depth -= 1;
      if (depth > 0) continue;
      yield text.slice(start, at + 1).trim();
      start = at + 1;
      depth = 0;
    }
  }
  const rest = text.slice(start).trim();
  if (rest !== "") yield rest;
}
