import type { Codec, Emit } from "../../domain/codec.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { sseDecoder, type SseItem } from "../framing/sse.ts";
import { strandsFold, type StrandsInput } from "../strands/fold.ts";
import { isNoise } from "../strands/noise.ts";
import type { StrandsOptions, StrandsState } from "../strands/state.ts";
import { withOffset } from "./harness-stream.ts";
import { runtimeBody } from "./runtime-body.ts";
import { unexpectedBody } from "./unexpected-body.ts";

export interface RuntimeStreamOptions extends StrandsOptions {
  /** The header of the answer. Without one the first byte tells JSON from an event stream. */
  readonly contentType?: string | null;
  /** The most bytes of one event. Events that are passed over may be of any size. */
  readonly maxEventBytes?: number;
  /** The most bytes of an answer that is no stream. */
  readonly maxBodyBytes?: number;
  /** Gets the comments by which a server keeps a silent connection open. */
  readonly onComment?: (text: string) => void;
}

export interface RuntimeStreamState {
  readonly fold: StrandsState;
  /** Chosen by the content type, else by the first byte. */
  reader: Reader | null;
  /** What came before the first byte that tells. */
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
      const reader = readerFor(options.contentType, options, state);
      return { fold: state, reader, head: NO_BYTES, offset: 0, received: 0 };
    },
    step(state, chunk, emit) {
      state.received += chunk.length;
      const ready = state.reader === null ? settleReader(state, chunk, options) : chunk;
      state.reader?.step(ready, receive(state, emit));
    },
    finish(state, emit) {
      state.reader ??= sseReader(options, state.fold);
      state.reader.step(state.head, receive(state, emit));
      state.reader.finish(receive(state, emit));
      state.offset = state.received;
      fold.finish(state.fold, (event) => emit(withOffset(event, state.offset)));
    },
  };
}

function readerFor(
  contentType: string | null | undefined,
  options: RuntimeStreamOptions,
  state: StrandsState,
): Reader | null {
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "") return null;
  if (type === "text/event-stream") return sseReader(options, state);
  if (type === "text/plain" || /[/+]json$/.test(type)) return bodyReader(options);
  return unexpectedReader(type);
}

/** Chooses a reader once a byte is there that tells, and returns everything so far; nothing until then. */
function settleReader(
  state: RuntimeStreamState,
  chunk: Uint8Array,
  options: RuntimeStreamOptions,
): Uint8Array {
  const bytes = new Uint8Array(state.head.length + chunk.length);
  bytes.set(state.head);
  bytes.set(chunk, state.head.length);
  const first = bytes.subarray(0, LONGEST_HEAD).find((byte) => byte > SPACE);
  if (first === undefined && bytes.length < LONGEST_HEAD) {
    state.head = bytes;
    return NO_BYTES;
  }
  const isBody = first !== undefined && JSON_STARTS.has(first);
  state.reader = isBody ? bodyReader(options) : sseReader(options, state.fold);
  state.head = NO_BYTES;
  return bytes;
}

function sseReader(options: RuntimeStreamOptions, state: StrandsState): Reader {
  const { maxEventBytes, onComment } = options;
  const decoder = sseDecoder({
    ...(maxEventBytes !== undefined && { maxEventBytes }),
    skip: (start) => isNoise(state, start),
  });
  const sse = decoder.initial();
  const place = (emit: Emit<Placed>) => (item: SseItem) => {
    if (item.type === "comment") onComment?.(item.text);
    else emit(placedItem(item));
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

function bodyReader({ maxBodyBytes = DEFAULT_MAX_BODY_BYTES }: RuntimeStreamOptions): Reader {
  const body = runtimeBody(maxBodyBytes);
  const state = body.initial();
  const place = (emit: Emit<Placed>) => (input: StrandsInput) => emit({ input, offset: 0 });
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

const NO_BYTES = new Uint8Array(0);
const LONGEST_HEAD = 64;
const SPACE = 0x20;
/** `{`, `[` and `"`. */
const JSON_STARTS: ReadonlySet<number> = new Set([0x7b, 0x5b, 0x22]);
