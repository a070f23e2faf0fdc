import type { Clock } from "../../platform/clock.ts";

export type HeaderField = readonly [name: string, value: string];

/** A request without its body. */
export interface RequestHead {
  /** The client's `x-request-id` if valid, else a generated id. Empty on a server without `newRequestId`. */
  readonly requestId: string;
  readonly method: string;
  /** As received, percent-encoded, without the query. */
  readonly path: string;
  /** As received, without the question mark. Empty if absent. */
  readonly query: string;
  /** In the order received, duplicates included. Names are lowercase. */
  readonly headers: readonly HeaderField[];
  /** The IP address of the other end of the connection: the client's, or a proxy's. Absent if unknown. */
  readonly remoteAddress?: string;
  /** Called with the principal after authentication, for the access log. */
  readonly onCaller?: (principal: string) => void;
}

/** A request with its complete body. */
export interface ServedRequest extends RequestHead {
  readonly body: Uint8Array;
  /** Aborts if the client disconnects before the whole response was sent. */
  readonly disconnectSignal: AbortSignal;
}

export interface ServedResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  /** An iterable is streamed: each piece is sent when it is produced, and no faster than the client reads. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array | string>;
  /** Only for streamed bodies. Undefined: no timers, and each piece goes through Node's own encoder. */
  readonly pace?: StreamPace;
}

/** Timeouts of a streamed response. */
export interface StreamPace {
  readonly clock: Clock;
  /**
   * Default: 5 minutes. A client which reads none of the pending bytes for this long is disconnected, and the pending
   * bytes are discarded.
   */
  readonly stalledMs?: number;
  /** `piece` is sent after `everyMs` without data: proxies and clients time out on silent streams. */
  readonly heartbeat?: { readonly everyMs: number; readonly piece: string };
}

/** Thrown by a handler or a body to reset the connection instead of sending or completing a response. */
export class ConnectionReset extends Error {}

/** A request refused before it reaches its handler. */
export interface Refusal {
  readonly status: 400 | 403 | 408 | 413 | 431 | 503;
  readonly message: string;
  /** Empty if the request line could not be read. */
  readonly path: string;
  /** The setting and the value which would allow such requests. */
  readonly setting?: readonly [name: "allowedHosts" | "allowedOrigins", value: string];
}
