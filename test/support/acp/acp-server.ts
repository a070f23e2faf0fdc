import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { DEFAULT_SERVE_CONFIG } from "../../../src/config/default-serve-config.ts";
import type { ServeSettings } from "../../../src/bridge/configured/serve-settings.ts";
import { startSurfaces } from "../../../src/bridge/serve/start-surfaces.ts";
import { systemClock, type SteadyClock } from "../../../src/platform/clock.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import { createAcpPeer, type AcpPeer } from "./acp-client.ts";

export const TOKEN = "the-token-of-this-bridge-for-tests";

export interface AcpServer {
  readonly url: string;
  readonly reports: readonly unknown[];
  /** Resolves when the connection is open. Rejects with the HTTP status of a refusal. */
  connect(headers?: { readonly [name: string]: string }): Promise<SocketClient>;
  close(): Promise<void>;
}

export interface SocketClient extends AcpPeer {
  readonly socket: WebSocket;
  /** Resolves with the close code. */
  readonly closeCode: Promise<number>;
  /** Closes the connection at once, like a network failure. */
  disconnect(): Promise<void>;
}

/** Starts all surfaces of a bridge on a free port, with the given sessions. */
export async function startAcpServer(
  sessions: Sessions,
  serving: Partial<ServeSettings> = {},
  clock: SteadyClock = systemClock,
): Promise<AcpServer> {
  const reports: unknown[] = [];
  const server = await startSurfaces({
    sessions,
    clock,
    host: "127.0.0.1",
    port: 0,
    serving: { ...DEFAULT_SERVE_CONFIG, ...serving },
    token: TOKEN,
    portal: true,
    report: (error) => void reports.push(error),
  });
  const sockets = new Set<WebSocket>();
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.terminate();
    await server.close();
  };
  onTestFinished(close);
  return {
    url: server.url,
    reports,
    close: () => server.close(),
    async connect(headers = { authorization: `Bearer ${TOKEN}` }) {
      const socket = new WebSocket(`${server.url.replace(/^http/, "ws")}/acp`, { headers });
      sockets.add(socket);
      const { take, ...talk } = createAcpPeer((text) => socket.send(text));
      socket.on("message", (data: Buffer) => take(data.toString()));
      const closeCode = new Promise<number>((resolve) => {
        socket.on("close", (code) => resolve(code));
      });
      await new Promise<void>((resolve, reject) => {
        socket.on("open", () => resolve());
        socket.on("unexpected-response", (_, response) => {
          reject(new Error(`refused with ${response.statusCode}`));
          socket.terminate();
        });
        socket.on("error", reject);
      });
      return {
        ...talk,
        socket,
        closeCode,
        async disconnect() {
          socket.terminate();
          await closeCode;
        },
      };
    },
  };
}
