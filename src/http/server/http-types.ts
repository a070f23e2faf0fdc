import type { Clock } from "../../platform/clock.ts";

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
  readonly disconnectSignal: AbortSignal;
}

export interface ServedResponse {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  /** Pieces are sent as they come, and no faster than the client reads. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array | string>;
  /** Of an answer in pieces. */
  readonly pace?: StreamPace;
}

/** How long is waited for pieces, and for a client to take them. */
export interface StreamPace {
  readonly clock: Clock;
  /** A client that takes nothing of what is there for it for so long is cut off: what waits for it is gone. */
  readonly stalledMs?: number;
  /** What is said when there was nothing to send for so long: proxies and clients give up on silent streams. */
  readonly heartbeat?: { readonly everyMs: number; readonly piece: string };
}

/** Thrown by a handler or a body to have its connection reset instead of answered or ended. */
export class ConnectionReset extends Error {}

/** A request that does not reach its handler. */
export interface Refusal {
  readonly status: 400 | 403 | 408 | 413 | 431 | 503;
  readonly message: string;
  /** Empty when the request could not be read so far. */
  readonly path: string;
  /** The setting that would let such requests in, and with what. */
  readonly setting?: readonly [name: "allowedHosts" | "allowedOrigins", value: string];
}
