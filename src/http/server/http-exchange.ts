/**
 * One request and what came of it, for logs and metrics. There is nothing in it of what was said, no key and no session:
 * of its path only the pattern.
 */
export interface Exchange {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  /** Undefined when nothing was answered. */
  readonly status: number | undefined;
  /** Who called, where that is known. */
  readonly principal: string | undefined;
  readonly milliseconds: number;
  readonly bytesIn: number;
  /** With headers. */
  readonly bytesOut: number;
  /** Whether all was sent, the client left before, or we failed. */
  readonly end: "sent" | "gone" | "failed";
}

/** Told of every exchange on a server. What it throws is a bug of its own. */
export interface ExchangeObserver {
  onEnd(exchange: Exchange): void;
  /** One more answer in pieces or WebSocket is open, or one less. */
  onOpenChange?(what: "stream" | "socket", change: 1 | -1): void;
}
