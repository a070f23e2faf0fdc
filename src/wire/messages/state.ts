import type { ConverseAdapterState } from "../chat/converse-adapter.ts";

export interface MessagesState extends ConverseAdapterState {
  /** What is open, by the API's index. */
  readonly blocks: Map<unknown, OpenBlock>;
}

export interface OpenBlock {
  /** Of a kind that this version does not know. */
  readonly isUnknown: boolean;
  /** Arguments that came with the start of a call. They count only if none are streamed. */
  input: string;
}
