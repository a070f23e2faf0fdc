import type { SessionEventType } from "../../domain/events/session-event.ts";
import type { Codec, Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { createChatError, type ChatOutput } from "./chat-chunk.ts";
import { CHUNK_RULES, type EventOf } from "./chunk-rules.ts";
import { createChunkState, type ChunkOptions, type ChunkState } from "./chunk-state.ts";

/**
 * A session's events, from the one that is answered, as a streamed chat completion. It ends with the end of the turn, or
 * with its pause for tools of the client's.
 */
export function createChunkEncoder(options: ChunkOptions): Codec<ChunkState, Envelope, ChatOutput> {
  return {
    initial: () => createChunkState(options),
    step(state, envelope, emit) {
      if (state.isOver || envelope.visibility !== "public") return;
      if (envelope.sessionId !== options.sessionId) return;
      encodeEvent(envelope.event.type, envelope.event, { state, envelope, emit });
    },
    finish(state, emit) {
      if (!state.isOver)
        emit(createChatError("incomplete_turn", "The events stop before the turn does"));
    },
    isOver: ({ isOver }) => isOver,
  };
}

interface EncodeContext {
  readonly state: ChunkState;
  readonly envelope: Envelope;
  readonly emit: Emit<ChatOutput>;
}

/** The type parameter ties an event to its rule. */
function encodeEvent<Type extends SessionEventType>(
  type: Type,
  event: EventOf<Type>,
  { state, envelope, emit }: EncodeContext,
): void {
  CHUNK_RULES[type].encode?.(state, event, emit, envelope);
}
