import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { systemClock } from "../platform/clock.ts";
import { crossOriginHeaders } from "./cross-origin.ts";
import { readHead } from "./door.ts";
import type { Exchange, ExchangeObserver } from "./exchange.ts";
import type { RequestHead, ServedAnswer } from "./served.ts";
import type { ServerOptions } from "./server-options.ts";

/** One exchange as it goes on. */
export interface OngoingExchange {
  readonly head: RequestHead;
  /** The answer with what every answer has. */
  dressed(answer: ServedAnswer): ServedAnswer;
  /** A connection that left HTTP. */
  upgraded(): void;
  /** Tells the observers, once. */
  ended(end: Exchange["end"]): void;
}

export function beginExchange(incoming: IncomingMessage, options: ServerOptions): OngoingExchange {
  const { clock = systemClock, observers = [], routeOf, allowedOrigins = [] } = options;
  const began = clock.monotonic();
  const { socket } = incoming;
  let principal: string | undefined;
  let status: number | undefined;
  let isStream = false;
  let isOver = false;
  const read = readHead(incoming, options);
  const head = { ...read, onCaller: (caller: string) => void (principal = caller) };
  const tell = (inform: (observer: ExchangeObserver) => void): void => {
    try {
      observers.forEach(inform);
    } catch (error) {
      options.onBug(error);
    }
  };
  return {
    head,
    dressed(answer) {
      status = answer.status;
      isStream = !(answer.body instanceof Uint8Array);
      if (isStream) tell((observer) => observer.open?.("stream", 1));
      const id = head.requestId === "" ? {} : { "x-request-id": head.requestId };
      const shared = crossOriginHeaders(head.headers, allowedOrigins);
      return { ...answer, headers: { ...answer.headers, ...shared, ...id } };
    },
    upgraded: () => void (status = 101),
    ended(end) {
      if (isOver) return;
      isOver = true;
      if (isStream) tell((observer) => observer.open?.("stream", -1));
      const { requestId, method, path } = head;
      const route = routeOf?.(path) ?? "none";
      const milliseconds = clock.monotonic() - began;
      const bytes = bytesSince(socket);
      const exchange = { requestId, method, route, status, principal, milliseconds, ...bytes, end };
      tell((observer) => observer.ended(exchange));
    },
  };
}

/** A connection may have carried others before. */
function bytesSince(socket: Socket): Pick<Exchange, "bytesIn" | "bytesOut"> {
  const before = counted.get(socket) ?? { read: 0, written: 0 };
  const now = { read: socket.bytesRead, written: socket.bytesWritten };
  counted.set(socket, now);
  return { bytesIn: now.read - before.read, bytesOut: now.written - before.written };
}

const counted = new WeakMap<Socket, { readonly read: number; readonly written: number }>();
