import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Queues the requests of one connection: each starts when the response to the previous request is complete. */
export interface PipelineQueue {
  add(socket: Duplex, outgoing: ServerResponse, begin: () => void): void;
  /** Whether a request of the connection has no complete response yet. */
  isBusy(socket: Duplex): boolean;
}

/** Requests waiting behind the current request. A client which pipelines more is disconnected. */
const MAX_WAITING_REQUESTS = 32;

/**
 * A client may pipeline requests (RFC 9112 §9.3.2), and receives the responses in order. Parallel handling would let
 * one connection start any number of requests, and Node emits no `close` on a queued response when the connection ends.
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
