/** How messages get to an agent and back. Each is one line; a transport knows nothing of what is in them. */
export interface Transport {
  /**
   * What comes in, in order. Ends when the other side is gone, and is read once. Throws an `invalid_message` where the other
   * side is gone since it was sent something that is too large for it.
   */
  readonly incoming: AsyncIterable<Incoming>;
  /** Takes one whole line. What can no longer be sent is dropped: `incoming` ends then. */
  send(line: string): void;
  /** Resolves when not too much is on its way, or nobody takes it any more. */
  ready(): Promise<void>;
  close(): void;
  /** Whether the other side can be gone while this end does not hear of it. It is asked from time to time then. */
  readonly mayStall?: boolean;
}

export type Incoming =
  | { readonly type: "line"; readonly text: string }
  /** Something that was longer than the limit, or no text. */
  | {
      readonly type: "passed-over";
      readonly reason: string;
      /** The first characters of a text that was too long. */
      readonly start?: string;
    };

/** Makes a connection, and another one when that is lost. */
export type Connect = () => Transport | Promise<Transport>;
