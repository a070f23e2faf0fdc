import { createItemQueue } from "../../async/item-queue.ts";
import type { Incoming, Transport } from "./transport.ts";

/** Creates two connected transports in one process. */
export function createMemoryTransports(): readonly [Transport, Transport] {
  const close = (): void => {
    first.end();
    second.end();
  };
  const first = createItemQueue<Incoming>(close);
  const second = createItemQueue<Incoming>(close);
  const createEnd = (incoming: typeof first, outgoing: typeof second): Transport => ({
    incoming,
    send: (line) => void outgoing.push({ type: "line", text: line.trimEnd() }),
    ready: () => Promise.resolve(),
    close,
  });
  return [createEnd(first, second), createEnd(second, first)];
}
