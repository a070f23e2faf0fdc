import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import type { SteadyClock } from "../../platform/clock.ts";
import {
  ApiError,
  toApiError,
  createBridgeFailedError,
  type ErrorFormatter,
} from "../routing/api-error.ts";
import type { ExchangeObserver } from "../server/http-exchange.ts";
import {
  closeSocket,
  wrapSocket,
  SOCKET_LIMITS,
  type OpenSocket,
  type SocketLimits,
} from "./open-socket.ts";
import type { RequestHead, ServedResponse } from "../server/http-types.ts";
import {
  isSocketRequest,
  type RawUpgrade,
  type UpgradeHandler,
} from "../server/upgrade-handler.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** A path which accepts WebSocket upgrades. */
export interface SocketRoute {
  readonly path: string;
  /** Overrides for this route. Default: the limits of `WebSocketOptions`. */
  readonly limits?: SocketLimits;
  /** The response to a binary message. Undefined: a binary message closes the connection with code 1003. */
  readonly binaryAnswer?: string;
  /** Whether the handler must not delay a message. Default: no message is urgent. */
  readonly isUrgent?: (text: string) => boolean;
  /** Formats the refusals of this route. Default: `WebSocketOptions.formatError`. */
  readonly formatError?: ErrorFormatter;
  /** Throws an `ApiError` if the caller may not connect. `Host` and `Origin` were already checked. */
  accept(head: RequestHead): Promise<SocketHandler>;
}

/** Serves one client. The connection is closed when the promise settles. */
export type SocketHandler = (socket: OpenSocket) => Promise<void>;

export interface WebSocketOptions {
  readonly routes: readonly SocketRoute[];
  readonly formatError: ErrorFormatter;
  readonly clock: SteadyClock;
  readonly limits?: SocketLimits;
  /** Open WebSockets. Further upgrades are refused with 503. Default: 500. */
  readonly sockets?: number;
  readonly observers?: readonly ExchangeObserver[];
  /** Receives any error thrown by a handler. The client only sees the connection close with code 1011. */
  readonly onBug: (error: unknown) => void;
}

const DEFAULT_SOCKETS = 500;

/** Accepts WebSockets on the paths of `routes`. */
export function createWebSockets(options: WebSocketOptions): UpgradeHandler {
  const servedRoutes = options.routes.map((route) => {
    const limits = { ...SOCKET_LIMITS, ...options.limits, ...route.limits };
    return { route, limits, handshake: createHandshake(limits.messageBytes) };
  });
  const paths = options.routes.map(({ path }) => path);
  const open = createOpenSockets(options);
  return {
    canUpgrade: (head) => isSocketRequest(head, paths),
    async upgrade(head, raw) {
      const at = servedRoutes.find(({ route }) => route.path === head.path);
      try {
        if (!open.hasCapacity) throw createTooManySocketsError();
        if (at === undefined) throw new Error(`No route at ${head.path}`);
        const handler = await at.route.accept(head);
        void serveSocket(await at.handshake(head, raw), handler, at);
        return undefined;
      } catch (error) {
        return toErrorResponse(error, { ...options, ...at?.route });
      }
    },
    close: open.close,
  };

  async function serveSocket(
    socket: WebSocket,
    handler: SocketHandler,
    { route, limits }: ServedRoute,
  ): Promise<void> {
    const { binaryAnswer, isUrgent } = route;
    open.add(socket);
    const opened = wrapSocket(socket, limits, {
      clock: options.clock,
      ...omitUndefined({ binaryAnswer, isUrgent }),
    });
    open.closeIfEnding(socket);
    try {
      await handler(opened);
      socket.close(1000);
    } catch (error) {
      if (!opened.disconnectSignal.aborted) options.onBug(error);
      socket.close(1011, "The bridge failed; its log says why");
    }
  }
}

/** The open WebSockets of a server, reported to the observers. */
interface OpenSockets {
  /** Whether one more WebSocket may be opened. False from `close` on. */
  readonly hasCapacity: boolean;
  add(socket: WebSocket): void;
  /** Closes a socket whose handshake ended after `close` was called. */
  closeIfEnding(socket: WebSocket): void;
  /** Resolves when all sockets are closed. */
  readonly close: () => Promise<void>;
}

function createOpenSockets({
  sockets: limit = DEFAULT_SOCKETS,
  clock,
  observers = [],
}: WebSocketOptions): OpenSockets {
  const open = new Set<WebSocket>();
  let isClosing = false;

  function notifyObservers(change: 1 | -1): void {
    for (const observer of observers) observer.onOpenChange?.("socket", change);
  }

  return {
    get hasCapacity() {
      return !isClosing && open.size < limit;
    },
    add(socket) {
      open.add(socket);
      notifyObservers(1);
      socket.on("close", () => {
        open.delete(socket);
        notifyObservers(-1);
      });
    },
    closeIfEnding(socket) {
      if (isClosing) closeSocket(socket, clock, SERVER_ENDS);
    },
    async close() {
      isClosing = true;
      const closed = [...open].map(
        (socket) => new Promise<void>((resolve) => socket.on("close", () => resolve())),
      );
      for (const socket of open) closeSocket(socket, clock, SERVER_ENDS);
      await Promise.all(closed);
    },
  };
}

const SERVER_ENDS = "The server ends";

interface ServedRoute {
  readonly route: SocketRoute;
  readonly limits: Required<SocketLimits>;
}

/**
 * By default the `ws` package responds to a malformed handshake itself and sends no request id. The `wsClientError` and
 * `headers` listeners replace both behaviours.
 */
function createHandshake(
  messageBytes: number,
): (head: RequestHead, raw: RawUpgrade) => Promise<WebSocket> {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: messageBytes,
    // Compression costs more than it saves on messages of this size, and uses memory per connection.
    perMessageDeflate: false,
    autoPong: false,
  });
  const failing = new WeakMap<Duplex, (error: Error) => void>();
  const ids = new WeakMap<IncomingMessage, string>();
  server.on("wsClientError", (error, socket) => failing.get(socket)?.(error));
  server.on("headers", (lines, incoming) => {
    const id = ids.get(incoming) ?? "";
    if (id !== "") lines.push(`x-request-id: ${id}`);
  });
  return ({ requestId }, { incoming, socket, head: rest }) =>
    new Promise((resolve, reject) => {
      ids.set(incoming, requestId);
      failing.set(socket, ({ message }) => {
        reject(
          new ApiError(400, "validation_failed", `The WebSocket handshake failed: ${message}`),
        );
      });
      server.handleUpgrade(incoming, socket, rest, resolve);
    });
}

function toErrorResponse(error: unknown, { formatError, onBug }: WebSocketOptions): ServedResponse {
  const apiError = toApiError(error);
  if (apiError !== undefined) return formatError(apiError);
  onBug(error);
  return formatError(createBridgeFailedError());
}

function createTooManySocketsError(): ApiError {
  return new ApiError(503, "overloaded", "The bridge has reached its limit of open WebSockets", {
    reason: "too_many_connections",
    headers: { "retry-after": "10" },
  });
}
