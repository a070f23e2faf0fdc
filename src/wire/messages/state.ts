import type { ToldState } from "../chat/told.ts";

export interface MessagesState extends ToldState {
  /** What is open, by the API's index. */
  readonly blocks: Map<unknown, OpenBlock>;
}

export interface OpenBlock {
  /** Of a kind that this version does not know. */
  readonly unknown: boolean;
  /** Arguments that came with the start of a call. They count only if none are streamed. */
  input: string;
}
