import type { Codec, Emit } from "../../domain/codec.ts";
import type { Failure, SpanlineError } from "../../domain/errors.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import type { StreamMessage } from "../../domain/stream-message.ts";
import { converseFold, type ConverseOptions } from "../converse/fold.ts";
import type { ConverseState } from "../converse/state.ts";
import {
  eventStreamDecoder,
  type EventStreamItem,
  type EventStreamOptions,
  type EventStreamState,
} from "../framing/eventstream.ts";
import { readStreamMessage } from "../framing/eventstream-message.ts";
import { isEventStream, unexpectedBody, type UnexpectedBodyState } from "./unexpected-body.ts";
import { withOffset } from "./with-offset.ts";

export interface HarnessStreamOptions extends EventStreamOptions, ConverseOptions {
  /** The header of the answer, where it is known: anything but an event stream fails the turn with a quote of it. */
  readonly contentType?: string | null | undefined;
}

export interface HarnessStreamState {
  readonly frames: EventStreamState;
  readonly fold: ConverseState;
  /** In place of frames, when the answer is something else. */
  readonly other: UnexpectedBodyState | null;
}

/** The body of an InvokeHarness answer: bytes in, events out. */
export function harnessStream(
  options: HarnessStreamOptions = {},
): Codec<HarnessStreamState, Uint8Array, ProviderEvent> {
  const { contentType } = options;
  const decoder = eventStreamDecoder(options);
  const fold = converseFold(options);
  const unexpected = unexpectedBody(contentType);
  const isOther = typeof contentType === "string" && !isEventStream(contentType);

  function receive(state: HarnessStreamState, emit: Emit<ProviderEvent>): Emit<EventStreamItem> {
    let offset = 0;
    const placed: Emit<ProviderEvent> = (event) => emit(withOffset(event, offset));
    return (item) => {
      if (item.type !== "failure") offset = item.offset;
      fold.step(state.fold, messageOf(item), placed);
    };
  }

  function fail(state: HarnessStreamState, error: SpanlineError, emit: Emit<ProviderEvent>): void {
    fold.step(state.fold, { type: "failure", failure: error.toFailure() }, emit);
  }

  return {
    initial: () => ({
      frames: decoder.initial(),
      fold: fold.initial(),
      other: isOther ? unexpected.initial() : null,
    }),
    step(state, chunk, emit) {
      if (state.other === null) decoder.step(state.frames, chunk, receive(state, emit));
      else unexpected.step(state.other, chunk, (error) => fail(state, error, emit));
    },
    finish(state, emit) {
      if (state.other === null) decoder.finish(state.frames, receive(state, emit));
      else unexpected.finish(state.other, (error) => fail(state, error, emit));
      fold.finish(state.fold, (event) => emit(withOffset(event, state.frames.offset)));
    },
    isOver: ({ frames }) => decoder.isOver?.(frames) ?? false,
  };
}

function messageOf(item: EventStreamItem): StreamMessage {
  switch (item.type) {
    case "frame":
      return readStreamMessage(item);
    case "failure":
      return { type: "failure", failure: item.error.toFailure() };
    case "fault": {
      const { diagnostic, offset, lost } = item;
      const { message } = diagnostic;
      const code = diagnostic.code === "checksum_mismatch" ? "frame_checksum" : "malformed_event";
      const failure: Failure = { code, message, details: { offset } };
      return lost ? { type: "fault", diagnostic, failure } : { type: "fault", diagnostic };
    }
    default:
      return item satisfies never;
  }
}
