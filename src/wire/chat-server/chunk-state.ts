import type { Emit } from "../../domain/codec.ts";
import type { JsonObject } from "../../data/json.ts";
import type { TextBuilder } from "../../text/text-builder.ts";
import type { Role } from "../../domain/provider/provider-event.ts";
import type { ToolCall } from "../../domain/tools/tool-call.ts";
import type { UsageStep } from "../../domain/provider/turn-builder.ts";
import type { Usage } from "../../domain/usage.ts";
import type { ChatDelta, ChatOutput, FinishReason } from "./chat-chunk.ts";
import type { ChatTraceItem } from "./chat-trace.ts";

export interface ChunkOptions {
  readonly sessionId: string;
  /** As the client called the agent. */
  readonly model: string;
  readonly includeUsage: boolean;
  /** The session's id of a call as clients get to know it. */
  readonly formatCallId: (toolCallId: string) => string;
  /** Whether the answer says what the agent did beside what it said; it does unless told otherwise. */
  readonly trace?: "items" | "none";
  /** Comes back beside the session, on the message. It takes the place of nothing that the message says itself. */
  readonly state?: JsonObject;
}

export interface ChunkState {
  readonly options: ChunkOptions;
  /** Of the event that it answers; null before that. */
  completion: { readonly id: string; readonly created: number; readonly promptId: string } | null;
  turnId: string | null;
  readonly messageRoles: Map<string, Role>;
  /** By message and number. */
  readonly blocks: Map<string, ChunkTextBlock>;
  /** The one that was shown last. */
  lastBlock: ChunkTextBlock | null;
  readonly toolCalls: Map<string, ChunkToolCallState>;
  readonly trace: TraceEntry[];
  /** Of the calls of the provider that have ended, as they count themselves. */
  usage: Usage | null;
  /** What was counted while they ran. */
  readonly steps: UsageStep[];
  isOver: boolean;
}

export interface ChunkTextBlock {
  readonly messageId: string;
  sentLength: number;
  isWithdrawn: boolean;
  /** What was shown of it since another one was. */
  traceText?: TextBuilder;
}

export interface ChunkToolCallState {
  /** Where it was first heard of. */
  readonly seq: number;
  call: ToolCall | null;
}

export interface TraceEntry {
  /** Of a call and its result. */
  readonly toolCallId: string | null;
  /** What was said is still being said. */
  readonly item: ChatTraceItem | TextBuilder;
}

export function createChunkState(options: ChunkOptions): ChunkState {
  return {
    options,
    completion: null,
    turnId: null,
    messageRoles: new Map(),
    blocks: new Map(),
    lastBlock: null,
    toolCalls: new Map(),
    trace: [],
    usage: null,
    steps: [],
    isOver: false,
  };
}

export function emitDelta(
  { options, completion }: ChunkState,
  delta: ChatDelta,
  emit: Emit<ChatOutput>,
  finish_reason: FinishReason | null = null,
): void {
  if (completion === null) return;
  emit({
    id: completion.id,
    object: "chat.completion.chunk",
    created: completion.created,
    model: options.model,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    // OpenAI's streams say so in every chunk but the last.
    ...(options.includeUsage && { usage: null }),
  });
}
