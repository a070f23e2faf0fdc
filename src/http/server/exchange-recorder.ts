import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { systemClock } from "../../platform/clock.ts";
import { createCrossOriginHeaders } from "./cross-origin.ts";
import { readRequestHead } from "./request-guard.ts";
import type { Exchange, ExchangeObserver } from "./http-exchange.ts";
import type { RequestHead, ServedResponse } from "./http-types.ts";
import type { ServerOptions } from "./server-options.ts";

/** Records one exchange while it runs. */
export interface ExchangeRecorder {
  readonly head: RequestHead;
  /** Adds the headers of every response: CORS and `x-request-id`. Also records the status. */
  addHeaders(answer: ServedResponse): ServedResponse;
  /** Records status 101: the connection has left HTTP. */
  markUpgraded(): void;
  /** Notifies the observers. Only the first call has an effect. */
  end(end: Exchange["end"]): void;
}

export function beginExchange(incoming: IncomingMessage, options: ServerOptions): ExchangeRecorder {
  const { clock = systemClock, observers = [], resolveRoute, allowedOrigins = [] } = options;
  const startedAt = clock.monotonic();
  const { socket } = incoming;
  let principal: string | undefined;
  let status: number | undefined;
  let isStream = false;
  let isOver = false;
  const read = readRequestHead(incoming, options);
  const head = { ...read, onCaller: (caller: string) => void (principal = caller) };
  const notifyObservers = (inform: (observer: ExchangeObserver) => void): void => {
    try {
      observers.forEach(inform);
    } catch (error) {
      options.onBug(error);
    }
  };
  return {
    head,
    addHeaders(answer) {
      status = answer.status;
      isStream = !(answer.body instanceof Uint8Array);
      if (isStream) notifyObservers((observer) => observer.onOpenChange?.("stream", 1));
      const id = head.requestId === "" ? {} : { "x-request-id": head.requestId };
      const shared = createCrossOriginHeaders(head.headers, allowedOrigins);
      return { ...answer, headers: { ...answer.headers, ...shared, ...id } };
    },
    markUpgraded: () => void (status = 101),
    end(end) {
      if (isOver) return;
      isOver = true;
      if (isStream) notifyObservers((observer) => observer.onOpenChange?.("stream", -1));
      const { requestId, method, path } = head;
      const route = resolveRoute?.(path) ?? "none";
      const milliseconds = clock.monotonic() - startedAt;
      const bytes = countNewBytes(socket);
      const exchange = { requestId, method, route, status, principal, milliseconds, ...bytes, end };
      notifyObservers((observer) => observer.onEnd(exchange));
    },
  };
}

/** Bytes since the previous exchange: a keep-alive connection may have carried earlier requests. */
function countNewBytes(socket: Socket): Pick<Exchange, "bytesIn" | "bytesOut"> {
  const previousCounts = countedBytes.get(socket) ?? { read: 0, written: 0 };
  const now = { read: socket.bytesRead, written: socket.bytesWritten };
  countedBytes.set(socket, now);
  return {
    bytesIn: now.read - previousCounts.read,
    bytesOut: now.written - previousCounts.written,
  };
}

const countedBytes = new WeakMap<Socket, { readonly read: number; readonly written: number }>();
