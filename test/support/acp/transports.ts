import { createHttpStream } from "acp-sdk-2/experimental/http-client";
import { onTestFinished } from "vitest";
import type { Sessions } from "../../../src/session/sessions.ts";
import { connectAcpClient, createAcpPeer, type AcpPeer } from "./acp-client.ts";
import { startAcpServer, TOKEN } from "./acp-server.ts";

type ConnectPeer = (sessions: Sessions) => Promise<AcpPeer>;

/** The same client over each transport of ACP: lines as on stdio, a WebSocket, and HTTP. */
export const ACP_TRANSPORTS: readonly (readonly [name: string, connect: ConnectPeer])[] = [
  ["lines, as on stdio,", (sessions) => connectAcpClient(sessions)],
  ["a WebSocket", async (sessions) => (await startAcpServer(sessions)).connect()],
  ["HTTP", connectOverHttp],
];

/** The HTTP transport of the official SDK carries the messages; the peer checks them. */
async function connectOverHttp(sessions: Sessions): Promise<AcpPeer> {
  const { url } = await startAcpServer(sessions);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { readable, writable } = createHttpStream(`${url}/acp`, { headers });
  const writer = writable.getWriter();
  const reader = readable.getReader();
  const { take, ...peer } = createAcpPeer((text) => void writer.write(JSON.parse(text)));
  const receive = async (): Promise<void> => {
    for (let next = await reader.read(); !next.done; next = await reader.read())
      take(JSON.stringify(next.value));
  };
  const received = receive();
  onTestFinished(async () => {
    await reader.cancel();
    await received.catch(() => {});
  });
  return peer;
}
