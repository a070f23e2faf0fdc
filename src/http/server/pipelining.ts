import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Requests of one connection, each begun when the one before it was answered. */
export interface PipelineQueue {
  add(socket: Duplex, outgoing: ServerResponse, begin: () => void): void;
  /** Whether a request of the connection is still to be answered. */
  isBusy(socket: Duplex): boolean;
}

/** Behind the one that is being answered. A client that sends more before it has read anything is cut off. */
const MAX_WAITING_REQUESTS = 32;

/**
 * A client may send a request before it has the answer to the one before (RFC 9112 §9.3.2), and gets them in order. To work on
 * them at once would let one connection ask for any number, and node never tells an answer that waits for its turn that the
 * connection ended.
 */
export function createPipelineQueue(): PipelineQueue {
  const waiting = new WeakMap<Duplex, WaitingRequest[]>();
  const start = (socket: Duplex, { outgoing, begin }: WaitingRequest): void => {
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
      const queuedRequests = waiting.get(socket);
      if (queuedRequests === undefined) {
        waiting.set(socket, []);
        start(socket, { outgoing, begin });
      } else if (queuedRequests.length < MAX_WAITING_REQUESTS)
        queuedRequests.push({ outgoing, begin });
      else socket.destroy();
    },
    isBusy: (socket) => waiting.has(socket),
  };
}

interface WaitingRequest {
  readonly outgoing: ServerResponse;
  readonly begin: () => void;
}
