import type { ConverseAdapterState } from "../chat/converse-adapter.ts";

export interface MessagesState extends ConverseAdapterState {
  /** Open blocks by the index of the API. */
  readonly blocks: Map<unknown, OpenBlock>;
}

export interface OpenBlock {
  /** True for a block of an unknown kind. */
  readonly isUnknown: boolean;
  /** Arguments in the start event of a tool call. Used only if no arguments are streamed. */
  input: string;
}
