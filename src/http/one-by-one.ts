import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Requests of one connection, each begun when the one before it was answered. */
export interface OneByOne {
  add(socket: Duplex, outgoing: ServerResponse, begin: () => void): void;
  /** Whether a request of the connection is still to be answered. */
  isBusy(socket: Duplex): boolean;
}

/** Behind the one that is being answered. A client that sends more before it has read anything is cut off. */
const MOST_WAITING = 32;

/**
 * A client may send a request before it has the answer to the one before (RFC 9112 §9.3.2), and gets them in order. To work on
 * them at once would let one connection ask for any number, and node never tells an answer that waits for its turn that the
 * connection ended.
 */
export function oneByOne(): OneByOne {
  const waiting = new WeakMap<Duplex, Waiting[]>();
  const start = (socket: Duplex, { outgoing, begin }: Waiting): void => {
    outgoing.once("close", () => next(socket));
    begin();
  };
  const next = (socket: Duplex): void => {
    const first = socket.destroyed ? undefined : waiting.get(socket)?.shift();
    if (first === undefined) waiting.delete(socket);
    else start(socket, first);
  };
  return {
    add(socket, outgoing, begin) {
      const before = waiting.get(socket);
      if (before === undefined) {
        waiting.set(socket, []);
        start(socket, { outgoing, begin });
      } else if (before.length < MOST_WAITING) before.push({ outgoing, begin });
      else socket.destroy();
    },
    isBusy: (socket) => waiting.has(socket),
  };
}

interface Waiting {
  readonly outgoing: ServerResponse;
  readonly begin: () => void;
}
