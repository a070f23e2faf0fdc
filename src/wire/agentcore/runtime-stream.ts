import type { Codec, Emit } from "../../domain/codec.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { sseDecoder, type SseItem } from "../framing/sse.ts";
import { strandsFold, type StrandsInput } from "../strands/fold.ts";
import { isNoise } from "../strands/noise.ts";
import type { StrandsOptions, StrandsState } from "../strands/state.ts";
import { readJsonBody, readTextBody } from "./runtime-body.ts";
import { declaredFraming, sniffedFraming, type RuntimeFraming } from "./runtime-framing.ts";
import { unexpectedBody } from "./unexpected-body.ts";
import { wholeBody, type WholeBodyItem } from "./whole-body.ts";
import { withOffset } from "./with-offset.ts";

export interface RuntimeStreamOptions extends StrandsOptions {
  /** The header of the answer. Without one the first bytes tell JSON from an event stream. */
  readonly contentType?: string | null;
  /** The most bytes of one event. Events that are passed over may be of any size. */
  readonly maxEventBytes?: number;
  /** The most bytes of an answer that is no stream. */
  readonly maxBodyBytes?: number;
}

export interface RuntimeStreamState {
  readonly fold: StrandsState;
  /** Chosen by the content type, else by the first bytes. */
  reader: Reader | null;
  /** What came before the bytes that tell. */
  head: Uint8Array;
  /** Where the event at hand begins; at the end, where the stream ends. */
  offset: number;
  received: number;
}

/** A framing with its state. */
interface Reader {
  step(chunk: Uint8Array, emit: Emit<Placed>): void;
  finish(emit: Emit<Placed>): void;
}

interface Placed {
  readonly input: StrandsInput;
  readonly offset: number;
}

const DEFAULT_MAX_BODY_BYTES = 16 * 1024 * 1024;

/** The body of an InvokeAgentRuntime answer: bytes in, events out. */
export function runtimeStream(
  options: RuntimeStreamOptions = {},
): Codec<RuntimeStreamState, Uint8Array, ProviderEvent> {
  const fold = strandsFold(options);
  const contentType = options.contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const declared = declaredFraming(contentType);
  const guess = declared?.framing ?? "sse";

  function receive(state: RuntimeStreamState, emit: Emit<ProviderEvent>): Emit<Placed> {
    const placed: Emit<ProviderEvent> = (event) => emit(withOffset(event, state.offset));
    return ({ input, offset }) => {
      state.offset = offset;
      fold.step(state.fold, input, placed);
    };
  }

  return {
    initial() {
      const state = fold.initial();
      let reader: Reader | null = null;
      if (declared === undefined) reader = unexpectedReader(contentType);
      else if (!declared.sniff) reader = readerFor(declared.framing, options, state);
      return { fold: state, reader, head: NO_BYTES, offset: 0, received: 0 };
    },
    step(state, chunk, emit) {
      state.received += chunk.length;
      const bytes = state.head.length === 0 ? chunk : concat(state.head, chunk);
      const framing = state.reader === null ? sniffedFraming(bytes, guess) : undefined;
      if (framing !== undefined) state.reader = readerFor(framing, options, state.fold);
      state.head = state.reader === null ? bytes.slice() : NO_BYTES;
      state.reader?.step(bytes, receive(state, emit));
    },
    finish(state, emit) {
      state.reader ??= readerFor(guess, options, state.fold);
      state.reader.step(state.head, receive(state, emit));
      state.reader.finish(receive(state, emit));
      state.offset = state.received;
      fold.finish(state.fold, (event) => emit(withOffset(event, state.offset)));
    },
  };
}

function readerFor(
  framing: RuntimeFraming,
  options: RuntimeStreamOptions,
  state: StrandsState,
): Reader {
  switch (framing) {
    case "sse":
      return sseReader(options, state);
    case "json":
      return bodyReader(options, readJsonBody);
    case "text":
      return bodyReader(options, readTextBody);
    default:
      return framing satisfies never;
  }
}

function sseReader(options: RuntimeStreamOptions, state: StrandsState): Reader {
  const { maxEventBytes } = options;
  const decoder = sseDecoder({
    ...(maxEventBytes !== undefined && { maxEventBytes }),
    skip: (start) => isNoise(state, start),
  });
  const sse = decoder.initial();
  const place = (emit: Emit<Placed>) => (item: SseItem) => {
    if (item.type !== "comment") emit(placedItem(item));
  };
  return {
    step: (chunk, emit) => decoder.step(sse, chunk, place(emit)),
    finish: (emit) => decoder.finish(sse, place(emit)),
  };
}

function placedItem(item: Exclude<SseItem, { type: "comment" }>): Placed {
  if (item.type !== "failure") return { input: item, offset: item.offset };
  const failure = item.error.toFailure();
  return { input: { type: "failure", failure }, offset: item.error.offset };
}

function bodyReader(
  { maxBodyBytes = DEFAULT_MAX_BODY_BYTES }: RuntimeStreamOptions,
  read: (item: WholeBodyItem) => StrandsInput,
): Reader {
  const body = wholeBody(maxBodyBytes);
  const state = body.initial();
  const place = (emit: Emit<Placed>) => (item: WholeBodyItem) =>
    emit({ input: read(item), offset: 0 });
  return {
    step: (chunk, emit) => body.step(state, chunk, place(emit)),
    finish: (emit) => body.finish(state, place(emit)),
  };
}

function unexpectedReader(contentType: string): Reader {
  const body = unexpectedBody(contentType, "text/event-stream or application/json");
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

function concat(head: Uint8Array, chunk: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + chunk.length);
  bytes.set(head);
  bytes.set(chunk, head.length);
  return bytes;
}

const NO_BYTES = new Uint8Array(0);
