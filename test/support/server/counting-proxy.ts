import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface CountingProxy {
  readonly url: string;
  /** The number of connections so far. */
  readonly connectionCount: number;
  /** Resolves when no connection is open. */
  waitUntilQuiet(): Promise<void>;
}

/** A proxy between a client and a server that counts connections. */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const waiting: (() => void)[] = [];
  let connections = 0;
  const server = createServer((inner) => {
    connections += 1;
    open.add(inner);
    const outer = connect(Number(port), hostname);
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
    inner.on("close", () => {
      open.delete(inner);
      if (open.size > 0) return;
      for (const resolve of waiting.splice(0)) resolve();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    get connectionCount() {
      return connections;
    },
    waitUntilQuiet: () =>
      open.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve);
          }),
  };
}
