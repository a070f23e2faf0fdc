import type { Emit } from "../../domain/codec.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { GatheredText } from "../../domain/kept-text.ts";
import type { Role } from "../../domain/provider-event.ts";
import type { ToolCall } from "../../domain/tool.ts";
import type { UsageStep } from "../../domain/turn-state.ts";
import type { Usage } from "../../domain/usage.ts";
import type { ChatDelta, ChatOutput, FinishReason } from "./chat-chunk.ts";
import type { ChatTraceItem } from "./chat-trace.ts";

export interface ChunkOptions {
  readonly sessionId: string;
  /** As the client called the agent. */
  readonly model: string;
  readonly includeUsage: boolean;
  /** The session's id of a call as clients get to know it. */
  readonly outerCallId: (toolCallId: string) => string;
  /** Whether the answer says what the agent did beside what it said; it does unless told otherwise. */
  readonly trace?: "items" | "none";
  /** Comes back beside the session, on the message. It takes the place of nothing that the message says itself. */
  readonly state?: JsonObject;
}

export interface ChunkState {
  readonly options: ChunkOptions;
  /** Of the event that it answers; null before that. */
  answer: { readonly id: string; readonly created: number; readonly promptId: string } | null;
  turnId: string | null;
  readonly speakers: Map<string, Role>;
  /** By message and number. */
  readonly blocks: Map<string, ShownBlock>;
  /** The one that was shown last. */
  lastShown: ShownBlock | null;
  readonly calls: Map<string, ShownCall>;
  readonly trace: TracedItem[];
  /** Of the calls of the provider that have ended, as they count themselves. */
  usage: Usage | null;
  /** What was counted while they ran. */
  readonly steps: UsageStep[];
  isOver: boolean;
}

export interface ShownBlock {
  readonly messageId: string;
  sent: number;
  isWithdrawn: boolean;
  /** What was shown of it since another one was. */
  traced?: GatheredText;
}

export interface ShownCall {
  /** Where it was first heard of. */
  readonly seq: number;
  call: ToolCall | null;
}

export interface TracedItem {
  /** Of a call and its result. */
  readonly toolCallId: string | null;
  /** What was said is still being said. */
  readonly item: ChatTraceItem | GatheredText;
}

export function initialChunkState(options: ChunkOptions): ChunkState {
  return {
    options,
    answer: null,
    turnId: null,
    speakers: new Map(),
    blocks: new Map(),
    lastShown: null,
    calls: new Map(),
    trace: [],
    usage: null,
    steps: [],
    isOver: false,
  };
}

export function tell(
  { options, answer }: ChunkState,
  delta: ChatDelta,
  emit: Emit<ChatOutput>,
  finish_reason: FinishReason | null = null,
): void {
  if (answer === null) return;
  emit({
    id: answer.id,
    object: "chat.completion.chunk",
    created: answer.created,
    model: options.model,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    // OpenAI's streams say so in every chunk but the last.
    ...(options.includeUsage && { usage: null }),
  });
}
