import type { Codec } from "../../domain/codec.ts";
import { applyEventRule } from "../../domain/event-rules.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { createChatError, type ChatOutput } from "./chat-chunk.ts";
import { CHUNK_RULES } from "./chunk-rules.ts";
import { createChunkState, type ChunkOptions, type ChunkState } from "./chunk-state.ts";

/**
 * Encodes a session's events as a streamed chat completion, starting with the event of the prompt. The stream ends with
 * the end of the turn, or with its pause for client-run tool calls.
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
        emit(createChatError("incomplete_turn", "The events stopped before the turn ended"));
    },
    isOver: ({ isOver }) => isOver,
  };
}
