import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { waitWithTimeout } from "../../async/pause.ts";
import { systemClock } from "../../platform/clock.ts";
import { isAnyAddress } from "../access/any-address.ts";
import { formatUrlHost } from "../access/host-name.ts";
import { createPreflightResponse } from "./cross-origin.ts";
import { beginExchange } from "./exchange-recorder.ts";
import { handleUpgrade } from "./handle-upgrade.ts";
import { ConnectionReset, type RequestHead, type ServedResponse } from "./http-types.ts";
import { createPipelineQueue } from "./pipelining.ts";
import { checkRequest } from "./request-guard.ts";
import { encodeRawResponse, sendResponse, DEFAULT_STALLED_MS } from "./send-response.ts";
import type { ServerLimits, ServerOptions } from "./server-options.ts";

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting connections, waits up to `patienceMs` (default: 0) for running responses, then closes all
   * connections.
   */
  close(patienceMs?: number): Promise<void>;
}

/**
 * Serves HTTP/1.1. The bytes of headers and bodies are exactly those of the handler. Rejects if the server cannot
 * listen.
 */
export async function startHttpServer(options: ServerOptions): Promise<HttpServer> {
  const { upgrades } = options;
  const currentExchanges: CurrentExchanges = new WeakMap();
  const openResponses = new Set<ServerResponse>();
  const requests = createPipelineQueue();
  const server = createServer(createNodeOptions(options.limits), (incoming, outgoing) => {
    requests.add(incoming.socket, outgoing, () => {
      // Clears the stall timeout of the previous response.
      incoming.socket.setTimeout(0);
      currentExchanges.set(incoming.socket, { incoming, outgoing });
      openResponses.add(outgoing);
      outgoing.once("close", () => openResponses.delete(outgoing));
      const isExtra = extra.has(incoming.socket);
      if (isExtra) outgoing.shouldKeepAlive = false;
      void serveRequest(incoming, outgoing, isExtra ? refuseAll(options) : options);
    });
  });
  const { connections: maxConnections = DEFAULT_CONNECTIONS } = options.limits;
  const extra = trackExtraConnections(server, maxConnections);
  server.maxConnections = maxConnections + EXTRA_CONNECTIONS;
  // Header bytes are limited by `headerBytes`. A limit on their number would drop headers silently.
  server.maxHeadersCount = 0;
  server.on("clientError", (error, socket) => {
    refuseUnreadable(error, socket, { options, currentExchanges });
  });
  if (upgrades !== undefined) {
    server.on("upgrade", (incoming, socket, rest) => {
      // Node detaches the socket even while a response is being written, which could then never be completed.
      if (requests.isBusy(socket) || extra.has(socket)) socket.destroy();
      else void handleUpgrade(server, { incoming, socket, head: rest }, { ...options, upgrades });
    });
  }
  const { port } = await listen(server, options);
  const host = isAnyAddress(options.host) ? "127.0.0.1" : formatUrlHost(options.host);
  return {
    url: `http://${host}:${port}`,
    port,
    async close(patienceMs = 0) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      if (patienceMs > 0) {
        await waitWithTimeout(
          options.clock ?? systemClock,
          patienceMs,
          waitForResponses(openResponses),
        );
      }
      server.closeAllConnections();
      await upgrades?.close();
      await closed;
    },
  };
}

const DEFAULT_CONNECTIONS = 2000;
/** Connections accepted beyond the limit to send a response with the reason. Further connections are closed. */
const EXTRA_CONNECTIONS = 100;

/** Connections opened while the limit was already reached. */
function trackExtraConnections(server: Server, limit: number): WeakSet<Duplex> {
  const extra = new WeakSet<Duplex>();
  let open = 0;
  server.on("connection", (socket) => {
    open += 1;
    if (open > limit) extra.add(socket);
    socket.once("close", () => (open -= 1));
  });
  return extra;
}

/** Options which refuse every request with 503. */
function refuseAll(options: ServerOptions): ServerOptions {
  const message = "The bridge has reached its limit of open connections";
  return {
    ...options,
    admit: ({ path }) => options.refuse({ status: 503, message, path }),
  };
}

async function waitForResponses(openResponses: ReadonlySet<ServerResponse>): Promise<void> {
  await Promise.all(
    [...openResponses].map(
      (outgoing) => new Promise<void>((resolve) => outgoing.once("close", () => resolve())),
    ),
  );
}

function createNodeOptions({ headerBytes, headerMs = 30_000, requestMs = 120_000 }: ServerLimits) {
  return {
    maxHeaderSize: headerBytes,
    headersTimeout: Math.min(headerMs, requestMs),
    requestTimeout: requestMs,
    // Upper bound for how late the two timeouts above are detected.
    connectionsCheckingInterval: Math.min(5000, headerMs, requestMs),
    // Longer than clients keep idle connections. If the server closed first, a request already sent by the client would
    // be lost.
    keepAliveTimeout: 65_000,
  };
}

function listen(server: Server, { host, port }: ServerOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("No TCP address"));
      else resolve(address);
    });
  });
}

async function serveRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: ServerOptions,
): Promise<void> {
  const disconnectSignal = createDisconnectSignal(outgoing);
  const { stalledMs = DEFAULT_STALLED_MS } = options.limits;
  const exchange = beginExchange(incoming, options);
  try {
    const answer = await handleRequest(incoming, {
      head: exchange.head,
      disconnectSignal,
      options,
    });
    if (answer !== undefined)
      await sendResponse(outgoing, exchange.addHeaders(answer), { stalledMs });
    exchange.end(answer === undefined || disconnectSignal.aborted ? "gone" : "sent");
  } catch (error) {
    exchange.end(disconnectSignal.aborted ? "gone" : "failed");
    if (error instanceof ConnectionReset) await resetConnection(outgoing);
    else if (!disconnectSignal.aborted) options.onBug(error);
    outgoing.destroy();
  }
}

interface ServeContext {
  readonly head: RequestHead;
  readonly disconnectSignal: AbortSignal;
  readonly options: ServerOptions;
}

/** Returns undefined if the request was not received completely: no client is left to respond to. */
async function handleRequest(
  incoming: IncomingMessage,
  { head, disconnectSignal, options }: ServeContext,
): Promise<ServedResponse | undefined> {
  const { method, path, headers } = head;
  const refusal = checkRequest(head, options);
  if (refusal !== undefined) return options.refuse(refusal);
  const preflight = createPreflightResponse(method, headers, options.allowedOrigins ?? []);
  if (preflight !== undefined) return preflight;
  const turnedAway = options.admit?.(head);
  if (turnedAway !== undefined) return turnedAway;
  const limit = options.limits.bodyBytes(path);
  const body = await readBody(incoming, limit);
  if (body === "cut") return undefined;
  if (body === "too-long") {
    return options.refuse({ status: 413, message: `The body has more than ${limit} bytes`, path });
  }
  return options.handle({ ...head, body, disconnectSignal });
}

/** The most recent exchange of each connection. */
type CurrentExchanges = WeakMap<
  Duplex,
  { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }
>;

interface RefuseContext {
  readonly options: ServerOptions;
  readonly currentExchanges: CurrentExchanges;
}

/** Refuses bytes which are not a valid request, or a request which is not complete in time. */
function refuseUnreadable(
  error: Error & { readonly code?: string },
  socket: Duplex,
  { options, currentExchanges }: RefuseContext,
): void {
  const last = currentExchanges.get(socket);
  const current = last?.outgoing.writableFinished === true ? undefined : last;
  // After a complete request, unreadable bytes belong to the next request. A refusal sent now would be read as the
  // response to the current request.
  const isAnswering =
    current !== undefined && (current.incoming.complete || current.outgoing.headersSent);
  if (!socket.writable || error.code === "ECONNRESET" || isAnswering) {
    socket.destroy();
    return;
  }
  const [status, message] = UNREADABLE_REFUSALS[error.code ?? ""] ?? [
    400,
    "The request is not valid HTTP",
  ];
  const path = current?.incoming.url ?? "";
  const { newRequestId } = options;
  const id = newRequestId === undefined ? {} : { "x-request-id": newRequestId() };
  const answer = options.refuse({ status, message, path });
  socket.end(encodeRawResponse({ ...answer, headers: { ...answer.headers, ...id } }), () =>
    socket.destroy(),
  );
}

const UNREADABLE_REFUSALS: { readonly [code: string]: readonly [400 | 408 | 431, string] } = {
  HPE_HEADER_OVERFLOW: [431, "The headers exceed the size limit"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request was not received completely within the time limit"],
};

function createDisconnectSignal(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) controller.abort(new Error("The client is gone"));
  });
  return controller.signal;
}

/** Flushes pending bytes first: a reset discards everything still in the buffer. */
async function resetConnection({ socket }: ServerResponse): Promise<void> {
  if (socket === null || socket.destroyed) return;
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    socket.write("", () => resolve());
  });
  socket.resetAndDestroy();
}

/**
 * Reads the body. Bytes beyond the limit are read and discarded, so that the client can read the 413 response. Returns
 * `cut` if the client disconnects or times out before the end.
 */
function readBody(
  incoming: IncomingMessage,
  limit: number,
): Promise<Uint8Array | "too-long" | "cut"> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const isTooLong = (): boolean =>
      length > limit || Number(incoming.headers["content-length"] ?? 0) > limit;
    incoming.on("data", (chunk: Uint8Array) => {
      length += chunk.length;
      if (!isTooLong()) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      resolve("too-long");
    });
    incoming.on("end", () => resolve(isTooLong() ? "too-long" : Buffer.concat(chunks)));
    incoming.on("error", () => resolve("cut"));
    incoming.on("close", () => resolve("cut"));
  });
}
