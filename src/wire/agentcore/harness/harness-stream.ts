import type { Codec, Emit } from "../../../domain/codec.ts";
import type { Failure, SpanlineError } from "../../../domain/errors.ts";
import type { ProviderEvent } from "../../../domain/provider/provider-event.ts";
import type { StreamMessage } from "../../../domain/provider/stream-message.ts";
import { createConverseFold, type ConverseOptions } from "../../converse/fold.ts";
import type { ConverseState } from "../../converse/state.ts";
import {
  createEventStreamDecoder,
  type EventStreamItem,
  type EventStreamOptions,
  type EventStreamState,
} from "../../framing/eventstream.ts";
import { readStreamMessage } from "../../framing/eventstream-message.ts";
import {
  isEventStream,
  createUnexpectedBodyReader,
  type UnexpectedBodyState,
  addDiagnosticOffset,
} from "../response-body.ts";

export interface HarnessStreamOptions extends EventStreamOptions, ConverseOptions {
  /**
   * The content type of the response, if known. Any type other than an event stream fails the turn with a quote of the
   * body.
   */
  readonly contentType?: string | null | undefined;
}

export interface HarnessStreamState {
  readonly frames: EventStreamState;
  readonly fold: ConverseState;
  /** Reads the body instead of `frames` if the response is not an event stream. Null otherwise. */
  readonly unexpectedBody: UnexpectedBodyState | null;
}

/** Creates a decoder for the body of an InvokeHarness response: bytes in, provider events out. */
export function createHarnessStream(
  options: HarnessStreamOptions = {},
): Codec<HarnessStreamState, Uint8Array, ProviderEvent> {
  const { contentType } = options;
  const unexpected = createUnexpectedBodyReader(contentType);
  const isUnexpected = typeof contentType === "string" && !isEventStream(contentType);
  const decoder = createEventStreamDecoder(options);
  const fold = createConverseFold(options);

  function receive(state: HarnessStreamState, emit: Emit<ProviderEvent>): Emit<EventStreamItem> {
    let offset = 0;
    const emitWithOffset = locateDiagnostics(emit, () => offset);
    return (item) => {
      if (item.type !== "failure") offset = item.offset;
      const message = item.type === "frame" ? readStreamMessage(item) : toFaultMessage(item);
      fold.step(state.fold, message, emitWithOffset);
    };
  }

  function fail(state: HarnessStreamState, error: SpanlineError, emit: Emit<ProviderEvent>): void {
    fold.step(state.fold, { type: "failure", failure: error.toFailure() }, emit);
  }

  return {
    initial: () => ({
      frames: decoder.initial(),
      fold: fold.initial(),
      unexpectedBody: isUnexpected ? unexpected.initial() : null,
    }),
    step(state, chunk, emit) {
      if (state.unexpectedBody === null) decoder.step(state.frames, chunk, receive(state, emit));
      else unexpected.step(state.unexpectedBody, chunk, (error) => fail(state, error, emit));
    },
    finish(state, emit) {
      if (state.unexpectedBody === null) decoder.finish(state.frames, receive(state, emit));
      else unexpected.finish(state.unexpectedBody, (error) => fail(state, error, emit));
      fold.finish(
        state.fold,
        locateDiagnostics(emit, () => state.frames.offset),
      );
    },
    isOver: ({ frames }) => decoder.isOver?.(frames) ?? false,
  };
}

/** Adds the position in the stream to the diagnostics among the events. */
function locateDiagnostics(
  emit: Emit<ProviderEvent>,
  getOffset: () => number,
): Emit<ProviderEvent> {
  return (event) =>
    emit(event.type === "diagnostic" ? addDiagnosticOffset(event, getOffset()) : event);
}

/** Converts bytes which are not a valid frame. */
function toFaultMessage(item: Exclude<EventStreamItem, { readonly type: "frame" }>): StreamMessage {
  switch (item.type) {
    case "failure":
      return { type: "failure", failure: item.error.toFailure() };
    case "fault": {
      const { diagnostic, offset, isLost } = item;
      const { message } = diagnostic;
      const code = diagnostic.code === "checksum_mismatch" ? "frame_checksum" : "malformed_event";
      const failure: Failure = { code, message, details: { offset } };
      return isLost ? { type: "fault", diagnostic, failure } : { type: "fault", diagnostic };
    }
    default:
      return item satisfies never;
  }
}
