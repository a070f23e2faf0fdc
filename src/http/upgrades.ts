import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { headerOf } from "./header.ts";
import type { RequestHead, ServedAnswer } from "./served.ts";

/** What a server does with connections that ask to leave HTTP. */
export interface Upgrades {
  /** False for a request that is to be answered as any other: to ask for an upgrade is only to offer it. */
  takes(head: RequestHead): boolean;
  /** Takes the connection over, or says how to refuse. Host and Origin were checked. */
  upgrade(head: RequestHead, raw: RawUpgrade): Promise<ServedAnswer | undefined>;
  /** Ends all connections that were taken over. */
  close(): Promise<void>;
}

export interface RawUpgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  /** What came behind the request. */
  readonly rest: Buffer;
}

/** Whether a request asks for a WebSocket at one of these paths. */
export function wantsSocket(head: RequestHead, paths: readonly string[]): boolean {
  const isAsking = head.method === "GET" && /^websocket$/i.test(headerOf(head, "upgrade") ?? "");
  return isAsking && paths.includes(head.path);
}
