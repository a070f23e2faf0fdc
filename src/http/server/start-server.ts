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
   * Takes no more connections. Answers that are under way have so many milliseconds to come to their end, none when it is
   * not said; then all connections end.
   */
  close(patienceMs?: number): Promise<void>;
}

/** Serves HTTP/1.1, byte for byte as its handler says. Rejects when it cannot listen. */
export async function startHttpServer(options: ServerOptions): Promise<HttpServer> {
  const { upgrades } = options;
  const currentExchanges: CurrentExchanges = new WeakMap();
  const openResponses = new Set<ServerResponse>();
  const requests = createPipelineQueue();
  const server = createServer(createNodeOptions(options.limits), (incoming, outgoing) => {
    requests.add(incoming.socket, outgoing, () => {
      // The time that the answer before it had is over.
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
  // Their bytes are limited. A limit to their number would drop some without a word.
  server.maxHeadersCount = 0;
  server.on("clientError", (error, socket) => {
    refuseUnreadable(error, socket, { options, currentExchanges });
  });
  if (upgrades !== undefined) {
    server.on("upgrade", (incoming, socket, rest) => {
      // Node hands it over in the middle of an answer, which nobody could finish.
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
/** Accepted beyond the limit, so that a client gets a response that says why; connections beyond these are closed. */
const EXTRA_CONNECTIONS = 100;

/** The connections that came when as many were open as the limit allows. */
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

/** Refuses every request. */
function refuseAll(options: ServerOptions): ServerOptions {
  const message = "The bridge has as many connections open as it allows";
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
    // How late these two may be noticed.
    connectionsCheckingInterval: Math.min(5000, headerMs, requestMs),
    // Longer than clients keep a connection: whoever closes first must not be the one who cannot see a request coming.
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

/** Undefined when the request did not come whole: there is nobody to answer. */
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

/** What was last begun on a connection. */
type CurrentExchanges = WeakMap<
  Duplex,
  { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }
>;

interface RefuseContext {
  readonly options: ServerOptions;
  readonly currentExchanges: CurrentExchanges;
}

/** Bytes that are no request, or that take too long to become one. */
function refuseUnreadable(
  error: Error & { readonly code?: string },
  socket: Duplex,
  { options, currentExchanges }: RefuseContext,
): void {
  const last = currentExchanges.get(socket);
  const current = last?.outgoing.writableFinished === true ? undefined : last;
  // Behind a whole request the bytes are of the next one, whose refusal would be taken for the answer to this one.
  const isAnswering =
    current !== undefined && (current.incoming.complete || current.outgoing.headersSent);
  if (!socket.writable || error.code === "ECONNRESET" || isAnswering) {
    socket.destroy();
    return;
  }
  const [status, message] = UNREADABLE_REFUSALS[error.code ?? ""] ?? [
    400,
    "The request is no HTTP",
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
  HPE_HEADER_OVERFLOW: [431, "The headers have more bytes than may be"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not come whole in time"],
};

function createDisconnectSignal(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) controller.abort(new Error("The client is gone"));
  });
  return controller.signal;
}

/** What was written before goes out first: a reset throws away all that is still waiting. */
async function resetConnection({ socket }: ServerResponse): Promise<void> {
  if (socket === null || socket.destroyed) return;
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    socket.write("", () => resolve());
  });
  socket.resetAndDestroy();
}

/**
 * What is more than the limit is read and forgotten, so that the client sees the answer. A body is `cut` when its client
 * leaves, or takes too long, in its middle.
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
