import { Readable, Writable } from "node:stream";
import type { Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { Client, ClientOptions, Transport } from "../../../src/host/index.ts";
import { createClient, createLineTransport } from "../../../src/host/index.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import { serveOnSocket } from "./acp-client.ts";

/** Creates a transport from a socket, like the author of a host. */
export function createSocketTransport(socket: Socket): Transport {
  return createLineTransport({
    input: Readable.toWeb(socket) as ReadableStream<Uint8Array>,
    output: Writable.toWeb(socket),
  });
}

export interface HostClient {
  readonly client: Client;
  /** The client's end of each connection, in order. */
  readonly sockets: readonly Socket[];
}

/** A client of the real surface over a real socket. It reconnects with a new socket. */
export function createHostClient(sessions: Sessions, options: ClientOptions = {}): HostClient {
  const sockets: Socket[] = [];
  const connect = async (): Promise<Transport> => {
    const { socket } = await serveOnSocket(sessions);
    sockets.push(socket);
    return createSocketTransport(socket);
  };
  const client = createClient(connect, { reconnect: { first: 1, longest: 1 }, ...options });
  onTestFinished(() => client.close());
  return { client, sockets };
}
