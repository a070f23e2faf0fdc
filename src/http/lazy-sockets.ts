import { wantsSocket, type Upgrades } from "./upgrades.ts";
import type { WebSocketOptions } from "./web-sockets.ts";

/** WebSockets whose library is loaded when the first client wants one. */
export function lazySockets(options: WebSocketOptions): Upgrades {
  const paths = options.routes.map(({ path }) => path);
  let loading: Promise<Upgrades> | undefined;
  const load = async (): Promise<Upgrades> => {
    const { webSockets } = await import("./web-sockets.ts");
    return webSockets(options);
  };
  return {
    takes: (head) => wantsSocket(head, paths),
    upgrade: async (head, raw) => (await (loading ??= load())).upgrade(head, raw),
    close: async () => (await loading)?.close(),
  };
}
