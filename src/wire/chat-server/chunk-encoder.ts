import type { Codec } from "../../domain/codec.ts";
import { applyEventRule } from "../../domain/event-rules.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { createChatError, type ChatOutput } from "./chat-chunk.ts";
import { CHUNK_RULES } from "./chunk-rules.ts";
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
      applyEventRule(CHUNK_RULES, state, envelope, emit);
    },
    finish(state, emit) {
      if (!state.isOver)
        emit(createChatError("incomplete_turn", "The events stop before the turn does"));
    },
    isOver: ({ isOver }) => isOver,
  };
}
