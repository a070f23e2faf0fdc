import type { GatheredText } from "../../domain/kept-text.ts";
import type { ToldState } from "./told.ts";

export interface ChatState extends ToldState {
  started: boolean;
  refused: boolean;
  /** The block that text of its kind still goes to. */
  open: { readonly kind: ContentKind; readonly index: number } | null;
  nextIndex: number;
  /** In the order first seen. */
  readonly calls: ChatCall[];
  readonly callsByIndex: Map<number, ChatCall>;
  readonly callsById: Map<string, ChatCall>;
  /** The server's name for this answer. */
  answerId: string;
}

export type ContentKind = "text" | "refusal" | "reasoning";

export interface ChatCall {
  id: string;
  name: string;
  /** Where it is open; null until both its id and its name are known. */
  index: number | null;
  /** Arguments that came before that. */
  readonly waiting: GatheredText;
}
