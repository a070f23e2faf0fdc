import type { Codec, Emit } from "../../domain/codec.ts";
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

export interface HarnessStreamState {
  readonly frames: EventStreamState;
  readonly fold: ConverseState;
}

/** The body of an InvokeHarness answer: bytes in, events out. */
export function harnessStream(
  options: EventStreamOptions & ConverseOptions = {},
): Codec<HarnessStreamState, Uint8Array, ProviderEvent> {
  const decoder = eventStreamDecoder(options);
  const fold = converseFold(options);

  function receive(state: HarnessStreamState, emit: Emit<ProviderEvent>): Emit<EventStreamItem> {
    let offset = 0;
    const placed: Emit<ProviderEvent> = (event) => emit(withOffset(event, offset));
    return (item) => {
      if (item.type === "frame") offset = item.offset;
      if (item.type === "fault") emit({ type: "diagnostic", diagnostic: item.diagnostic });
      const message = messageOf(item);
      if (message !== undefined) fold.step(state.fold, message, placed);
    };
  }

  return {
    initial: () => ({ frames: decoder.initial(), fold: fold.initial() }),
    step: (state, chunk, emit) => decoder.step(state.frames, chunk, receive(state, emit)),
    finish(state, emit) {
      decoder.finish(state.frames, receive(state, emit));
      fold.finish(state.fold, (event) => emit(withOffset(event, state.frames.offset)));
    },
  };
}

function messageOf(item: EventStreamItem): StreamMessage | undefined {
  switch (item.type) {
    case "frame":
      return readStreamMessage(item);
    case "failure":
      return { type: "failure", failure: item.error.toFailure() };
    case "fault": {
      const { code, message, offset } = item.diagnostic;
      if (!item.lost) return undefined;
      const failure = {
        code: "malformed_event",
        message,
        details: { offset, fault: code },
      } as const;
      return { type: "gap", failure };
    }
    default:
      return item satisfies never;
  }
}

/** Says where in the stream a diagnostic was found. */
export function withOffset(event: ProviderEvent, offset: number): ProviderEvent {
  if (event.type !== "diagnostic" || event.diagnostic.offset !== undefined) return event;
  return { type: "diagnostic", diagnostic: { ...event.diagnostic, offset } };
}
