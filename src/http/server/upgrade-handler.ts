import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { readHeader } from "../routing/read-header.ts";
import type { RequestHead, ServedResponse } from "./http-types.ts";

/** What a server does with connections that ask to leave HTTP. */
export interface UpgradeHandler {
  /** False for a request that is to be answered as any other: to ask for an upgrade is only to offer it. */
  canUpgrade(head: RequestHead): boolean;
  /** Takes the connection over, or says how to refuse. Host and Origin were checked. */
  upgrade(head: RequestHead, raw: RawUpgrade): Promise<ServedResponse | undefined>;
  /** Ends all connections that were taken over. */
  close(): Promise<void>;
}

export interface RawUpgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  /** What came behind the request. */
  readonly head: Buffer;
}

/** Whether a request asks for a WebSocket at one of these paths. */
export function isSocketRequest(head: RequestHead, paths: readonly string[]): boolean {
  const isUpgrade = head.method === "GET" && /^websocket$/i.test(readHeader(head, "upgrade") ?? "");
  return isUpgrade && paths.includes(head.path);
}
