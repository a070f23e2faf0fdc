import type { Codec, Emit } from "../../../domain/codec.ts";
import type { ProviderEvent } from "../../../domain/provider/provider-event.ts";
import { createSseDecoder, type SseItem } from "../../framing/sse.ts";
import { createStrandsFold, type StrandsInput } from "../../strands/fold.ts";
import { isNoise } from "../../strands/noise.ts";
import type { StrandsOptions, StrandsState } from "../../strands/state.ts";
import {
  createUnexpectedBodyReader,
  addDiagnosticOffset,
  createWholeBodyReader,
  type WholeBodyItem,
} from "../response-body.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { FrameError, TruncatedStreamError, type Failure } from "../../../domain/errors.ts";
import { isCutJson, parseLenientJson } from "../../strands/python/lenient-json.ts";

export interface RuntimeStreamOptions extends StrandsOptions {
  /** The content type of the response. If absent, the first bytes distinguish JSON from an event stream. */
  readonly contentType?: string | null;
  /** Bytes of one event. Skipped events may have any size. Default: 16 MiB plus 64 KiB. */
  readonly maxEventBytes?: number;
  /** Bytes of a response which is not a stream. Default: 16 MiB. */
  readonly maxBodyBytes?: number;
}

export interface RuntimeStreamState {
  readonly fold: StrandsState;
  /** Selected by the content type or the first bytes. Null until then. */
  reader: BodyReader | null;
  /** Bytes received before the framing was detected. */
  head: Uint8Array;
  /** Position of the current event. After the last event, the length of the stream. */
  offset: number;
  receivedBytes: number;
}

/** A framing decoder with its state. */
interface BodyReader {
  step(chunk: Uint8Array, emit: Emit<PositionedInput>): void;
  finish(emit: Emit<PositionedInput>): void;
}

interface PositionedInput {
  readonly input: StrandsInput;
  readonly offset: number;
}

const DEFAULT_MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Creates a decoder for the body of an InvokeAgentRuntime response: bytes in, provider events out. */
export function createRuntimeStream(
  options: RuntimeStreamOptions = {},
): Codec<RuntimeStreamState, Uint8Array, ProviderEvent> {
  const fold = createStrandsFold(options);
  const contentType = options.contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const declaredFraming = parseDeclaredFraming(contentType);
  const guess = declaredFraming?.framing ?? "sse";

  function receive(state: RuntimeStreamState, emit: Emit<ProviderEvent>): Emit<PositionedInput> {
    const emitWithOffset: Emit<ProviderEvent> = (event) =>
      emit(addDiagnosticOffset(event, state.offset));
    return ({ input, offset }) => {
      state.offset = offset;
      fold.step(state.fold, input, emitWithOffset);
    };
  }

  return {
    initial() {
      const state = fold.initial();
      let reader: BodyReader | null = null;
      if (declaredFraming === undefined) reader = createUnexpectedReader(contentType);
      else if (!declaredFraming.sniff)
        reader = createReader(declaredFraming.framing, options, state);
      return { fold: state, reader, head: NO_BYTES, offset: 0, receivedBytes: 0 };
    },
    step(state, chunk, emit) {
      state.receivedBytes += chunk.length;
      const bytes = state.head.length === 0 ? chunk : concatBytes(state.head, chunk);
      const framing = state.reader === null ? sniffFraming(bytes, guess) : undefined;
      if (framing !== undefined) state.reader = createReader(framing, options, state.fold);
      state.head = state.reader === null ? bytes.slice() : NO_BYTES;
      state.reader?.step(bytes, receive(state, emit));
    },
    finish(state, emit) {
      state.reader ??= createReader(guess, options, state.fold);
      state.reader.step(state.head, receive(state, emit));
      state.reader.finish(receive(state, emit));
      state.offset = state.receivedBytes;
      fold.finish(state.fold, (event) => emit(addDiagnosticOffset(event, state.offset)));
    },
  };
}

function createReader(
  framing: RuntimeFraming,
  options: RuntimeStreamOptions,
  state: StrandsState,
): BodyReader {
  switch (framing) {
    case "sse":
      return createSseReader(options, state);
    case "json":
      return createBodyReader(options, readJsonBody);
    case "text":
      return createBodyReader(options, readTextBody);
    default:
      return framing satisfies never;
  }
}

function createSseReader(options: RuntimeStreamOptions, state: StrandsState): BodyReader {
  const { maxEventBytes } = options;
  const decoder = createSseDecoder({
    ...omitUndefined({ maxEventBytes }),
    skip: (start) => isNoise(state, start),
  });
  const sse = decoder.initial();
  const emitPositioned = (emit: Emit<PositionedInput>) => (item: SseItem) => {
    if (item.type !== "comment") emit(toPositionedInput(item));
  };
  return {
    step: (chunk, emit) => decoder.step(sse, chunk, emitPositioned(emit)),
    finish: (emit) => decoder.finish(sse, emitPositioned(emit)),
  };
}

function toPositionedInput(item: Exclude<SseItem, { type: "comment" }>): PositionedInput {
  if (item.type !== "failure") return { input: item, offset: item.offset };
  const failure = item.error.toFailure();
  return { input: { type: "failure", failure }, offset: item.error.offset };
}

function createBodyReader(
  { maxBodyBytes = DEFAULT_MAX_BODY_BYTES }: RuntimeStreamOptions,
  read: (item: WholeBodyItem) => StrandsInput,
): BodyReader {
  const body = createWholeBodyReader(maxBodyBytes);
  const state = body.initial();
  const emitPositioned = (emit: Emit<PositionedInput>) => (item: WholeBodyItem) =>
    emit({ input: read(item), offset: 0 });
  return {
    step: (chunk, emit) => body.step(state, chunk, emitPositioned(emit)),
    finish: (emit) => body.finish(state, emitPositioned(emit)),
  };
}

function createUnexpectedReader(contentType: string): BodyReader {
  const body = createUnexpectedBodyReader(contentType, "text/event-stream or application/json");
  const state = body.initial();
  return {
    step: (chunk) => body.step(state, chunk, ignore),
    finish(emit) {
      body.finish(state, (error) => {
        emit({ input: { type: "failure", failure: error.toFailure() }, offset: 0 });
      });
    },
  };
}

function ignore(): void {}

function concatBytes(head: Uint8Array, chunk: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + chunk.length);
  bytes.set(head);
  bytes.set(chunk, head.length);
  return bytes;
}

const NO_BYTES = new Uint8Array(0);

/** The framing of a response body. */
type RuntimeFraming = "json" | "text" | "sse";

/**
 * Maps a content type to a framing. If `sniff` is true, the framing is a guess and the first bytes decide. Undefined
 * for an unsupported type.
 */
function parseDeclaredFraming(
  contentType: string,
): { readonly framing: RuntimeFraming; readonly sniff: boolean } | undefined {
  if (contentType === "") return { framing: "sse", sniff: true };
  if (contentType === "text/event-stream") return { framing: "sse", sniff: false };
  if (contentType === "text/plain") return { framing: "text", sniff: false };
  // Some apps send an event stream with the content type of JSON.
  return /[/+]json$/.test(contentType) ? { framing: "json", sniff: true } : undefined;
}

/**
 * Detects the framing from the first bytes. Returns the guess if they are ambiguous, or undefined while more bytes may
 * decide (up to 64).
 */
function sniffFraming(head: Uint8Array, guess: RuntimeFraming): RuntimeFraming | undefined {
  const text = String.fromCharCode(...head.subarray(0, MAX_HEAD_BYTES));
  const content = text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
  if (/^\s*["[{]/.test(content)) return "json";
  if (/^[\r\n]*(?:data|event)?:/.test(content)) return "sse";
  const isOpen = BYTE_ORDER_MARK.startsWith(text) || PARTIAL_FIELD.test(content);
  return isOpen && head.length < MAX_HEAD_BYTES ? undefined : guess;
}

const MAX_HEAD_BYTES = 64;
/** The three bytes of the mark, one character each. */
const BYTE_ORDER_MARK = "\u00ef\u00bb\u00bf";
const PARTIAL_FIELD = /^\s*(?:d|da|dat|data|e|ev|eve|even|event)?$/;

/** Reads a complete body with a JSON content type: JSON, or plain text, which TypeScript apps send with this type. */
function readJsonBody(item: WholeBodyItem): StrandsInput {
  if (item.type === "failure") return toFailureInput(item.error.toFailure());
  const { text, bytes } = item;
  const parsed = parseLenientJson(text);
  if (parsed.ok) return { type: "body", value: parsed.value };
  if (isCutJson(text)) {
    const message = `The body is not complete JSON: ${parsed.reason}`;
    const position = { offset: 0, pendingBytes: bytes };
    return toFailureInput(new TruncatedStreamError(message, position).toFailure());
  }
  if (!/^\s*(?:\{\s*"|\[\s*[[{])/.test(text)) return toTextEvent(text);
  const message = `The body is not JSON: ${parsed.reason}`;
  return toFailureInput(new FrameError("frame_invalid", message, { offset: 0 }).toFailure());
}

/** Reads a complete body of the type `text/plain`. The body is JSON only if all of it parses. */
function readTextBody(item: WholeBodyItem): StrandsInput {
  if (item.type === "failure") return toFailureInput(item.error.toFailure());
  const parsed = parseLenientJson(item.text);
  const isJson = parsed.ok && /^\s*["[{]/.test(item.text);
  return isJson ? { type: "body", value: parsed.value } : toTextEvent(item.text);
}

function toTextEvent(data: string): StrandsInput {
  return { type: "event", event: "", data };
}

function toFailureInput(failure: Failure): StrandsInput {
  return { type: "failure", failure };
}
