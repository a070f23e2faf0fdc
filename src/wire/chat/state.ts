import type { TextBuilder } from "../../text/text-builder.ts";
import type { ConverseAdapterState } from "./converse-adapter.ts";

export interface ChatState extends ConverseAdapterState {
  hasStarted: boolean;
  hasRefusal: boolean;
  /** The block that text of its kind still goes to. */
  openContent: { readonly kind: ContentKind; readonly index: number } | null;
  nextIndex: number;
  /** In the order first seen. */
  readonly toolCalls: ChatToolCall[];
  readonly toolCallsByIndex: Map<number, ChatToolCall>;
  readonly toolCallsById: Map<string, ChatToolCall>;
  /** The server's name for this answer. */
  responseId: string;
}

export type ContentKind = "text" | "refusal" | "reasoning";

export interface ChatToolCall {
  id: string;
  name: string;
  /** Where it is open; null until both its id and its name are known. */
  index: number | null;
  /** Arguments that came before that. */
  readonly pendingInput: TextBuilder;
}
