import type { SteadyClock } from "../../platform/clock.ts";
import type { ExchangeObserver } from "./http-exchange.ts";
import type { Refusal, RequestHead, ServedResponse, ServedRequest } from "./http-types.ts";
import type { UpgradeHandler } from "./upgrade-handler.ts";

export interface ServerOptions {
  /** An address or host name of this machine. */
  readonly host: string;
  /** 0 picks any free port. */
  readonly port: number;
  /**
   * Additional host names accepted in the `Host` header. Always accepted: loopback names, the bound host, and (if bound
   * to every address) the machine's own name and addresses.
   */
  readonly allowedHosts?: readonly string[];
  /** Additional origins whose pages may call the server: `https://app.example`. */
  readonly allowedOrigins?: readonly string[];
  readonly limits: ServerLimits;
  /** Creates the id of a request without a valid client id. If set, every response has an `x-request-id` header. */
  readonly newRequestId?: () => string;
  /** Handles connections which leave HTTP. Default: `Upgrade` headers are ignored. */
  readonly upgrades?: UpgradeHandler;
  readonly observers?: readonly ExchangeObserver[];
  readonly clock?: SteadyClock;
  /**
   * Called with the head before the body is read. Returns a response to reject the request early, undefined to
   * continue.
   */
  admit?(head: RequestHead): ServedResponse | undefined;
  handle(request: ServedRequest): Promise<ServedResponse>;
  /** Formats the response to a request which does not reach `handle`. */
  refuse(refusal: Refusal): ServedResponse;
  /** Maps a path to its route pattern for observers, which must not see session ids. */
  readonly resolveRoute?: (path: string) => string;
  /**
   * Receives any error thrown by `handle` or by a body. Such an error is a bug; the client only sees the connection
   * end.
   */
  onBug(error: unknown): void;
}

export interface ServerLimits {
  /** Bytes of one body. Called for each request, since some paths accept larger bodies. */
  bodyBytes(path: string): number;
  /** Bytes of all headers of a request together. */
  readonly headerBytes: number;
  /** From the first byte of a request to the end of its headers. Default: 30 s. */
  readonly headerMs?: number;
  /** From the first byte of a request to its last byte. Default: 2 minutes. */
  readonly requestMs?: number;
  /** A client which reads none of its response for this long is disconnected. Default: 5 minutes. */
  readonly stalledMs?: number;
  /**
   * Open connections. Up to 100 further connections receive a 503; connections beyond those are closed. Default: 2000.
   */
  readonly connections?: number;
}
