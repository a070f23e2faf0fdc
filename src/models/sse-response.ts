import type { Codec } from "../domain/codec.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import {
  createUnexpectedBodyReader,
  type UnexpectedBodyState,
} from "../wire/agentcore/response-body.ts";
import type { ServerSentInput } from "../wire/chat/converse-adapter.ts";
import {
  createSseDecoder,
  type SseItem,
  type SseOptions,
  type SseState,
} from "../wire/framing/sse.ts";

export interface SseResponseState<FoldState> {
  readonly events: SseState;
  readonly fold: FoldState;
  /** Reads a response with another content type as an error. Null for an event stream. */
  readonly unexpected: UnexpectedBodyState | null;
}

export type ModelFold<FoldState> = Codec<FoldState, ServerSentInput, ProviderEvent>;

/** Decodes a response of server-sent events: joins SSE framing with a vendor dialect. */
export function createSseResponseCodec<FoldState extends { readonly isOver: boolean }>(
  fold: ModelFold<FoldState>,
  contentType: string | undefined,
  options: SseOptions = {},
): Codec<SseResponseState<FoldState>, Uint8Array, ProviderEvent> {
  const decoder = createSseDecoder(options);
  const bodyCodec = createUnexpectedBodyReader(contentType, EVENT_STREAM);
  const isUnexpected = contentType !== undefined && !contentType.trim().startsWith(EVENT_STREAM);

  function receive(state: FoldState, emit: (event: ProviderEvent) => void) {
    return (item: SseItem): void => {
      const input = toFoldInput(item);
      if (input !== undefined) fold.step(state, input, emit);
    };
  }

  return {
    initial: () => ({
      events: decoder.initial(),
      fold: fold.initial(),
      unexpected: isUnexpected ? bodyCodec.initial() : null,
    }),
    step(state, chunk, emit) {
      if (state.unexpected === null) decoder.step(state.events, chunk, receive(state.fold, emit));
      else bodyCodec.step(state.unexpected, chunk, () => {});
    },
    finish(state, emit) {
      if (state.unexpected === null) decoder.finish(state.events, receive(state.fold, emit));
      else {
        bodyCodec.finish(state.unexpected, (error) => {
          fold.step(state.fold, { type: "failure", failure: error.toFailure() }, emit);
        });
      }
      fold.finish(state.fold, emit);
    },
    isOver: ({ fold: { isOver } }) => isOver,
  };
}

const EVENT_STREAM = "text/event-stream";

function toFoldInput(item: SseItem): ServerSentInput | undefined {
  if (item.type === "event") return item;
  return item.type === "failure" ? { type: "failure", failure: item.error.toFailure() } : undefined;
}
