import { isSocketRequest, type UpgradeHandler } from "../server/upgrade-handler.ts";
import type { WebSocketOptions } from "./web-sockets.ts";

/** Loads the WebSocket library on the first upgrade request, so that a server starts faster. */
export function createLazySockets(options: WebSocketOptions): UpgradeHandler {
  const paths = options.routes.map(({ path }) => path);
  let loading: Promise<UpgradeHandler> | undefined;
  const load = async (): Promise<UpgradeHandler> => {
    const { createWebSockets } = await import("./web-sockets.ts");
    return createWebSockets(options);
  };
  return {
    canUpgrade: (head) => isSocketRequest(head, paths),
    upgrade: async (head, raw) => (await (loading ??= load())).upgrade(head, raw),
    close: async () => (await loading)?.close(),
  };
}
