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
  const decoder = createEventStreamDecoder(options);
  const fold = createConverseFold(options);
  const unexpected = createUnexpectedBodyReader(contentType);
  const isUnexpected = typeof contentType === "string" && !isEventStream(contentType);

  function receive(state: HarnessStreamState, emit: Emit<ProviderEvent>): Emit<EventStreamItem> {
    let offset = 0;
    const emitWithOffset: Emit<ProviderEvent> = (event) =>
      emit(event.type === "diagnostic" ? addDiagnosticOffset(event, offset) : event);
    return (item) => {
      if (item.type !== "failure") offset = item.offset;
      fold.step(state.fold, toStreamMessage(item), emitWithOffset);
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
      fold.finish(state.fold, (event) => emit(addDiagnosticOffset(event, state.frames.offset)));
    },
    isOver: ({ frames }) => decoder.isOver?.(frames) ?? false,
  };
}

function toStreamMessage(item: EventStreamItem): StreamMessage {
  switch (item.type) {
    case "frame":
      return readStreamMessage(item);
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
