import type { SteadyClock } from "../../platform/clock.ts";
import type { ExchangeObserver } from "./http-exchange.ts";
import type { Refusal, RequestHead, ServedResponse, ServedRequest } from "./http-types.ts";
import type { UpgradeHandler } from "./upgrade-handler.ts";

export interface ServerOptions {
  /** An address or a name of this machine. */
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /**
   * Names beside those of the loopback and the bound host under which clients may call; where that is every address, those
   * of the machine are let in as well.
   */
  readonly allowedHosts?: readonly string[];
  /** Origins whose pages may call beside the server's own: `https://app.example`. */
  readonly allowedOrigins?: readonly string[];
  readonly limits: ServerLimits;
  /** Makes the id of a request whose client sent none. With it every answer has an `x-request-id`. */
  readonly newRequestId?: () => string;
  /** Connections that leave HTTP; without it a wish to do so is not heard. */
  readonly upgrades?: UpgradeHandler;
  readonly observers?: readonly ExchangeObserver[];
  readonly clock?: SteadyClock;
  /** The answer to a request that is not worth to be read whole; undefined for one that is. */
  admit?(head: RequestHead): ServedResponse | undefined;
  handle(request: ServedRequest): Promise<ServedResponse>;
  /** The answer to a request that does not reach `handle`. */
  refuse(refusal: Refusal): ServedResponse;
  /** The name of a path for observers, which are not to learn what it says. */
  readonly resolveRoute?: (path: string) => string;
  /** Told of what `handle` or a body threw: that is a bug, and its client only sees the connection end. */
  onBug(error: unknown): void;
}

export interface ServerLimits {
  /** Of one body; asked for each request, since some paths take more than others. */
  bodyBytes(path: string): number;
  /** Of all headers of a request together. */
  readonly headerBytes: number;
  /** From the first byte of a request to the end of its headers, 30 s when it is not said. */
  readonly headerMs?: number;
  /** From the first byte of a request to its last, two minutes when it is not said. */
  readonly requestMs?: number;
  /** A client that takes nothing of its answer for so long is cut off, five minutes when it is not said. */
  readonly stalledMs?: number;
  /** Open at once; a further one is closed as it comes. 2000 when it is not said. */
  readonly connections?: number;
}
