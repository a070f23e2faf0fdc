import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { orLate } from "../async/pause.ts";
import { answerUpgrade } from "./answer-upgrade.ts";
import { isAnyAddress } from "./any-address.ts";
import { ConnectionReset } from "./connection-reset.ts";
import { preflightAnswer } from "./cross-origin.ts";
import { refusedAtDoor } from "./door.ts";
import { bracketed } from "./host-name.ts";
import { beginExchange } from "./ongoing-exchange.ts";
import { oneByOne } from "./one-by-one.ts";
import { rawAnswer } from "./raw-answer.ts";
import { readBody } from "./read-body.ts";
import { sendAnswer, STALLED_MS } from "./send-answer.ts";
import { systemClock } from "../platform/clock.ts";
import type { RequestHead, ServedAnswer } from "./served.ts";
import type { ServerLimits, ServerOptions } from "./server-options.ts";

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /**
   * Takes no more connections. Answers that are under way have so many milliseconds to come to their end, none when it is
   * not said; then all connections end.
   */
  close(patienceMs?: number): Promise<void>;
}

/** Serves HTTP/1.1, byte for byte as its handler says. Rejects when it cannot listen. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { upgrades } = options;
  const answering: Answering = new WeakMap();
  const underWay = new Set<ServerResponse>();
  const requests = oneByOne();
  const server = createServer(nodeOptions(options.limits), (incoming, outgoing) => {
    requests.add(incoming.socket, outgoing, () => {
      // The time that the answer before it had is over.
      incoming.socket.setTimeout(0);
      answering.set(incoming.socket, { incoming, outgoing });
      underWay.add(outgoing);
      outgoing.once("close", () => underWay.delete(outgoing));
      const isExtra = extra.has(incoming.socket);
      if (isExtra) outgoing.shouldKeepAlive = false;
      void serve(incoming, outgoing, isExtra ? overloaded(options) : options);
    });
  });
  const { connections: maxConnections = DEFAULT_CONNECTIONS } = options.limits;
  const extra = extraConnections(server, maxConnections);
  server.maxConnections = maxConnections + EXTRA_CONNECTIONS;
  // Their bytes are limited. A limit to their number would drop some without a word.
  server.maxHeadersCount = 0;
  server.on("clientError", (error, socket) => {
    refuseUnreadable(error, socket, { options, answering });
  });
  if (upgrades !== undefined) {
    server.on("upgrade", (incoming, socket, rest) => {
      // Node hands it over in the middle of an answer, which nobody could finish.
      if (requests.isBusy(socket) || extra.has(socket)) socket.destroy();
      else void answerUpgrade(server, { incoming, socket, rest }, { ...options, upgrades });
    });
  }
  const { port } = await listening(server, options);
  const host = isAnyAddress(options.host) ? "127.0.0.1" : bracketed(options.host);
  return {
    url: `http://${host}:${port}`,
    port,
    async close(patienceMs = 0) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      if (patienceMs > 0) {
        await orLate(options.clock ?? systemClock, patienceMs, allSent(underWay));
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
function extraConnections(server: Server, limit: number): WeakSet<Duplex> {
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
function overloaded(options: ServerOptions): ServerOptions {
  const message = "The bridge has as many connections open as it allows";
  return {
    ...options,
    admit: ({ path }) => options.refuse({ status: 503, message, path }),
  };
}

async function allSent(underWay: ReadonlySet<ServerResponse>): Promise<void> {
  await Promise.all(
    [...underWay].map(
      (outgoing) => new Promise<void>((resolve) => outgoing.once("close", () => resolve())),
    ),
  );
}

function nodeOptions({ headerBytes, headerMs = 30_000, requestMs = 120_000 }: ServerLimits) {
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

function listening(server: Server, { host, port }: ServerOptions): Promise<AddressInfo> {
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

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: ServerOptions,
): Promise<void> {
  const gone = goneSignal(outgoing);
  const { stalledMs = STALLED_MS } = options.limits;
  const exchange = beginExchange(incoming, options);
  try {
    const answer = await answerTo(incoming, { head: exchange.head, gone, options });
    if (answer !== undefined) await sendAnswer(outgoing, exchange.dressed(answer), { stalledMs });
    exchange.ended(answer === undefined || gone.aborted ? "gone" : "sent");
  } catch (error) {
    exchange.ended(gone.aborted ? "gone" : "failed");
    if (error instanceof ConnectionReset) await reset(outgoing);
    else if (!gone.aborted) options.onBug(error);
    outgoing.destroy();
  }
}

interface Serving {
  readonly head: RequestHead;
  readonly gone: AbortSignal;
  readonly options: ServerOptions;
}

/** Undefined when the request did not come whole: there is nobody to answer. */
async function answerTo(
  incoming: IncomingMessage,
  { head, gone, options }: Serving,
): Promise<ServedAnswer | undefined> {
  const { method, path, headers } = head;
  const refusal = refusedAtDoor(head, options);
  if (refusal !== undefined) return options.refuse(refusal);
  const preflight = preflightAnswer(method, headers, options.allowedOrigins ?? []);
  if (preflight !== undefined) return preflight;
  const turnedAway = options.admit?.(head);
  if (turnedAway !== undefined) return turnedAway;
  const limit = options.limits.bodyBytes(path);
  const body = await readBody(incoming, limit);
  if (body === "cut") return undefined;
  if (body === "too-long") {
    return options.refuse({ status: 413, message: `The body has more than ${limit} bytes`, path });
  }
  return options.handle({ ...head, body, gone });
}

/** What was last begun on a connection. */
type Answering = WeakMap<
  Duplex,
  { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }
>;

interface Refusing {
  readonly options: ServerOptions;
  readonly answering: Answering;
}

/** Bytes that are no request, or that take too long to become one. */
function refuseUnreadable(
  error: Error & { readonly code?: string },
  socket: Duplex,
  { options, answering }: Refusing,
): void {
  const last = answering.get(socket);
  const current = last?.outgoing.writableFinished === true ? undefined : last;
  // Behind a whole request the bytes are of the next one, whose refusal would be taken for the answer to this one.
  const isLate =
    current !== undefined && (current.incoming.complete || current.outgoing.headersSent);
  if (!socket.writable || error.code === "ECONNRESET" || isLate) {
    socket.destroy();
    return;
  }
  const [status, message] = UNREADABLE[error.code ?? ""] ?? [400, "The request is no HTTP"];
  const path = current?.incoming.url ?? "";
  const { newRequestId } = options;
  const id = newRequestId === undefined ? {} : { "x-request-id": newRequestId() };
  const answer = options.refuse({ status, message, path });
  socket.end(rawAnswer({ ...answer, headers: { ...answer.headers, ...id } }), () =>
    socket.destroy(),
  );
}

const UNREADABLE: { readonly [code: string]: readonly [400 | 408 | 431, string] } = {
  HPE_HEADER_OVERFLOW: [431, "The headers have more bytes than may be"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not come whole in time"],
};

function goneSignal(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) controller.abort(new Error("The client is gone"));
  });
  return controller.signal;
}

/** What was written before goes out first: a reset throws away all that is still waiting. */
async function reset({ socket }: ServerResponse): Promise<void> {
  if (socket === null || socket.destroyed) return;
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    socket.write("", () => resolve());
  });
  socket.resetAndDestroy();
}
