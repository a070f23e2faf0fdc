/** Carries messages to an agent and back. Each message is one line; a transport does not parse messages. */
export interface Transport {
  /**
   * Received messages, in order; iterated once. Ends when the other side is gone. Throws `invalid_message` if the other
   * side closed the connection over an oversized message.
   */
  readonly incoming: AsyncIterable<Incoming>;
  /** Sends a whole line. Lines after the end are dropped; `incoming` ends then too. */
  send(line: string): void;
  /** Resolves when few enough characters are queued, or when the other side is gone. */
  ready(): Promise<void>;
  close(): void;
  /** Whether the other side can disappear without a close event. The client then sends pings. Default: false. */
  readonly mayStall?: boolean;
}

export type Incoming =
  | { readonly type: "line"; readonly text: string }
  /** A message over the size limit, or not a text message. */
  | {
      readonly type: "passed-over";
      readonly reason: string;
      /** The first characters of an oversized message. */
      readonly start?: string;
    };

/** Opens a connection; called again after a lost connection. */
export type Connect = () => Transport | Promise<Transport>;
