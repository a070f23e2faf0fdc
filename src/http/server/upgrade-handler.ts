import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { readHeader } from "../routing/read-header.ts";
import type { RequestHead, ServedResponse } from "./http-types.ts";

/** Handles the connections of a server which request to leave HTTP. */
export interface UpgradeHandler {
  /** Returns false to serve the request as ordinary HTTP: an upgrade is only an offer. */
  canUpgrade(head: RequestHead): boolean;
  /**
   * Takes over the connection and returns undefined, or returns a refusal. `Host` and `Origin` were already checked.
   */
  upgrade(head: RequestHead, raw: RawUpgrade): Promise<ServedResponse | undefined>;
  /** Closes all upgraded connections. */
  close(): Promise<void>;
}

export interface RawUpgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes received after the request's headers. */
  readonly head: Buffer;
}

/** Whether a request is a WebSocket upgrade to a path in `paths`. */
export function isSocketRequest(head: RequestHead, paths: readonly string[]): boolean {
  const isUpgrade = head.method === "GET" && /^websocket$/i.test(readHeader(head, "upgrade") ?? "");
  return isUpgrade && paths.includes(head.path);
}
