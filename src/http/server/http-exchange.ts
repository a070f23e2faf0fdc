/**
 * One request and its outcome, for logs and metrics. An exchange contains no message content, no key and no session id;
 * its path is reduced to the route pattern.
 */
export interface Exchange {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  /** Undefined if no response was sent. */
  readonly status: number | undefined;
  /** The authenticated caller; undefined if the caller is unknown. */
  readonly principal: string | undefined;
  readonly milliseconds: number;
  readonly bytesIn: number;
  /** Includes headers. */
  readonly bytesOut: number;
  /**
   * `sent`: the whole response was sent; `gone`: the client disconnected before the end; `failed`: the server failed.
   */
  readonly end: "sent" | "gone" | "failed";
}

/** Receives every exchange of a server. An error thrown by an observer is reported to `onBug`. */
export interface ExchangeObserver {
  onEnd(exchange: Exchange): void;
  /** A streamed response or a WebSocket has opened (1) or closed (-1). */
  onOpenChange?(what: "stream" | "socket", change: 1 | -1): void;
}
