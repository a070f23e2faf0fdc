export type HeaderField = readonly [name: string, value: string];

/** What a request says before its body. */
export interface RequestHead {
  /** Ours, or the one that the client sent; on a server without ids of its own, empty. */
  readonly requestId: string;
  readonly method: string;
  /** As it came, escapes and all, without the query. */
  readonly path: string;
  /** As it came, without the question mark; empty when there is none. */
  readonly query: string;
  /** In their order, repeated ones too. Names in lower case. */
  readonly headers: readonly HeaderField[];
  /** To be told who calls, for the log. */
  readonly onCaller?: (principal: string) => void;
}

/** One request, read whole. */
export interface ServedRequest extends RequestHead {
  readonly body: Uint8Array;
  /** Aborts when the client is gone before the answer was sent. */
  readonly gone: AbortSignal;
}

export interface ServedAnswer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  /** Bytes in pieces are sent as they come, and no faster than the client reads. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /** Aborted when a client that does not read is no longer waited for: the connection is reset, and what waits is gone. */
  readonly cut?: AbortSignal;
}
