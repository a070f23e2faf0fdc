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
  /** The name of the agent as sent by the client. */
  readonly model: string;
  readonly includeUsage: boolean;
  /** Converts a tool call id of the session to the id for clients. */
  readonly formatCallId: (toolCallId: string) => string;
  /** Whether the response includes the trace of the agent's actions. Default: `items`. */
  readonly trace?: "items" | "none";
  /** Client state copied to the message, next to the session id. Never overrides a field of the message itself. */
  readonly state?: JsonObject;
}

export interface ChunkState {
  readonly options: ChunkOptions;
  /** Derived from the answered event. Null before this event. */
  completion: { readonly id: string; readonly created: number; readonly promptId: string } | null;
  turnId: string | null;
  readonly messageRoles: Map<string, Role>;
  /** By message id and block number. */
  readonly blocks: Map<string, ChunkTextBlock>;
  /** The block of the last sent text. */
  lastBlock: ChunkTextBlock | null;
  readonly toolCalls: Map<string, ChunkToolCallState>;
  readonly trace: TraceEntry[];
  /** Usage of the finished invocations, as reported by the provider. */
  usage: Usage | null;
  /** Usage reported while the invocations ran. */
  readonly steps: UsageStep[];
  isOver: boolean;
}

export interface ChunkTextBlock {
  readonly messageId: string;
  sentLength: number;
  isWithdrawn: boolean;
  /** The trace entry of this block since another block was sent. */
  traceText?: TextBuilder;
}

export interface ChunkToolCallState {
  /** Sequence number of the first event about the tool call. */
  readonly seq: number;
  call: ToolCall | null;
}

export interface TraceEntry {
  /** Null for text. */
  readonly toolCallId: string | null;
  /** A text builder while the text grows. */
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
    // OpenAI's streams have `usage: null` in every chunk except the last.
    ...(options.includeUsage && { usage: null }),
  });
}
