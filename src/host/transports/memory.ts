import { itemQueue } from "../../async/item-queue.ts";
import type { Incoming, Transport } from "./transport.ts";

/** Two ends in one process: what one sends comes in at the other. */
export function memoryTransports(): readonly [Transport, Transport] {
  const close = (): void => {
    one.end();
    other.end();
  };
  const one = itemQueue<Incoming>(close);
  const other = itemQueue<Incoming>(close);
  const end = (incoming: typeof one, outgoing: typeof other): Transport => ({
    incoming,
    send: (line) => void outgoing.push({ type: "line", text: line.trimEnd() }),
    ready: () => Promise.resolve(),
    close,
  });
  return [end(one, other), end(other, one)];
}
