import type { Codec } from "../domain/codec.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { unexpectedBody, type UnexpectedBodyState } from "../wire/agentcore/unexpected-body.ts";
import type { ServerSentInput } from "../wire/chat/told.ts";
import { sseDecoder, type SseItem, type SseOptions, type SseState } from "../wire/framing/sse.ts";

export interface SseAnswerState<FoldState> {
  readonly events: SseState;
  readonly fold: FoldState;
  /** In place of events, when the answer is something else. */
  readonly other: UnexpectedBodyState | null;
}

export type ModelFold<FoldState> = Codec<FoldState, ServerSentInput, ProviderEvent>;

/** An answer of server-sent events: framing joined to a dialect, bytes in, events out. */
export function sseAnswer<FoldState extends { readonly over: boolean }>(
  fold: ModelFold<FoldState>,
  contentType: string | undefined,
  options: SseOptions = {},
): Codec<SseAnswerState<FoldState>, Uint8Array, ProviderEvent> {
  const decoder = sseDecoder(options);
  const unexpected = unexpectedBody(contentType, EVENT_STREAM);
  const isOther = contentType !== undefined && !contentType.trim().startsWith(EVENT_STREAM);

  function receive(state: FoldState, emit: (event: ProviderEvent) => void) {
    return (item: SseItem): void => {
      const input = inputOf(item);
      if (input !== undefined) fold.step(state, input, emit);
    };
  }

  return {
    initial: () => ({
      events: decoder.initial(),
      fold: fold.initial(),
      other: isOther ? unexpected.initial() : null,
    }),
    step(state, chunk, emit) {
      if (state.other === null) decoder.step(state.events, chunk, receive(state.fold, emit));
      else unexpected.step(state.other, chunk, () => {});
    },
    finish(state, emit) {
      if (state.other === null) decoder.finish(state.events, receive(state.fold, emit));
      else {
        unexpected.finish(state.other, (error) => {
          fold.step(state.fold, { type: "failure", failure: error.toFailure() }, emit);
        });
      }
      fold.finish(state.fold, emit);
    },
    isOver: ({ fold: { over } }) => over,
  };
}

const EVENT_STREAM = "text/event-stream";

function inputOf(item: SseItem): ServerSentInput | undefined {
  if (item.type === "event") return item;
  return item.type === "failure" ? { type: "failure", failure: item.error.toFailure() } : undefined;
}
