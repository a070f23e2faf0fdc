import type { TextBuilder } from "../../text/text-builder.ts";
import type { ConverseAdapterState } from "./converse-adapter.ts";

export interface ChatState extends ConverseAdapterState {
  hasStarted: boolean;
  hasRefusal: boolean;
  /** The open text block. Text of the same kind is appended to this block; null if none is open. */
  openContent: { readonly kind: ContentKind; readonly index: number } | null;
  nextIndex: number;
  /** In the order of their first fragment. */
  readonly toolCalls: ChatToolCall[];
  readonly toolCallsByIndex: Map<number, ChatToolCall>;
  readonly toolCallsById: Map<string, ChatToolCall>;
  /** The id of the response given by the server. Empty before the first chunk. */
  responseId: string;
}

export type ContentKind = "text" | "refusal" | "reasoning";

export interface ChatToolCall {
  id: string;
  name: string;
  /** Index of the open block. Null until both id and name are known. */
  index: number | null;
  /** Arguments received before the block opened. */
  readonly pendingInput: TextBuilder;
}
