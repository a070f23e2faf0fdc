import {
  Agent as HttpAgent,
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { Socket } from "node:net";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  readonly body?: HttpBody;
  /**
   * The timeout for a new connection, including the TLS handshake, in milliseconds. Default: `Infinity`, no timeout.
   */
  readonly connectMilliseconds?: number;
}

/** Bytes, or consecutive parts, which are sent without being copied into a single buffer. */
export type HttpBody = Uint8Array | readonly Uint8Array[];

export function toBodyParts(body: HttpBody): readonly Uint8Array[] {
  return body instanceof Uint8Array ? [body] : body;
}

export interface HttpResponse {
  readonly status: number;
  /** Names are in lowercase. Repeated headers are joined with commas. */
  readonly headers: { readonly [name: string]: string };
  /** Can be read once. Stopping early closes the connection; slow reading slows the sender down (backpressure). */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection unless the whole body has been read. */
  close(): void;
}

/** No response was received. `cause` is Node's error. */
export class NoResponseError extends Error {
  /** True if there was a connection, so the server may have received the request. */
  readonly wasSent: boolean;

  constructor(cause: Error, wasSent: boolean) {
    super(cause.message === "" ? String(Object(cause)["code"]) : cause.message, { cause });
    this.name = "NoAnswerError";
    this.wasSent = wasSent;
  }
}

/**
 * Sends a request once. Rejects with a `NoResponseError` if no response is received. The signal aborts the request at any
 * point.
 */
export type SendHttp = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;

export interface HttpClient {
  readonly send: SendHttp;
  /** Closes all idle connections. */
  close(): void;
}

/**
 * An HTTP/1.1 client. Only connecting has a timeout here; callers set the other limits, because they know the expected
 * durations.
 */
export function createHttpClient(): HttpClient {
  const http = limitKeepAlive(new HttpAgent(AGENT_OPTIONS));
  const https = limitKeepAlive(new HttpsAgent(AGENT_OPTIONS));
  return {
    send: ({ method, url, headers, body, connectMilliseconds = Infinity }, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted)
          return reject(
            new NoResponseError(new Error("The request was aborted before it was sent"), false),
          );
        const isPlain = url.protocol === "http:";
        const settings = { method, headers, signal };
        const outgoing = isPlain
          ? requestHttp(url, { ...settings, agent: http })
          : requestHttps(url, { ...settings, agent: https });
        let wasSent = false;
        outgoing.on("socket", (socket) => {
          // An abort after a finished response destroys a socket without listeners. Its error event would crash the
          // process.
          if (!socket.listeners("error").includes(ignore)) socket.on("error", ignore);
          if (!socket.connecting) return void (wasSent = true);
          const cancelTimer = limitConnectTime(outgoing, connectMilliseconds);
          socket.once(isPlain ? "connect" : "secureConnect", () => {
            cancelTimer();
            wasSent = true;
          });
        });
        outgoing.on("error", (error) => {
          reject(new NoResponseError(error, wasSent));
        });
        outgoing.on("response", (incoming) => resolve(toHttpResponse(incoming)));
        outgoing.on("upgrade", (_, socket) => {
          socket.destroy();
          reject(new NoResponseError(new Error("The server requested a protocol upgrade"), true));
        });
        // In all other cases: a closed connection must reject, so the caller never waits forever.
        outgoing.on("close", () => {
          reject(new NoResponseError(new Error("The connection was closed"), wasSent));
        });
        sendBody(outgoing, body);
      }),
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

/** Sends the parts with a single write: Node buffers them until the last part. */
function sendBody(outgoing: ClientRequest, body: HttpBody | undefined): void {
  if (body === undefined || body instanceof Uint8Array) return void outgoing.end(body);
  const length = body.reduce((sum, part) => sum + part.length, 0);
  outgoing.setHeader("content-length", length);
  outgoing.cork();
  for (const part of body) outgoing.write(part);
  outgoing.end();
}

function ignore(): void {}

/** Destroys the request if it is not connected in time. Returns a function that cancels the timeout. */
function limitConnectTime(outgoing: ClientRequest, milliseconds: number): () => void {
  if (milliseconds === Infinity) return ignore;
  const timeoutError = new Error(
    `The connection was not established within ${milliseconds / 1000} s`,
  );
  const timer = setTimeout(
    () => outgoing.destroy(timeoutError),
    Math.min(milliseconds, MAX_TIMER_MS),
  );
  const cancelTimer = (): void => clearTimeout(timer);
  outgoing.once("close", cancelTimer);
  return cancelTimer;
}

/** The longest delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Keeps idle connections only for the time between two requests of a turn. A server closes an idle connection at any
 * time, and a request sent at that moment is lost and cannot be repeated. If the server announces a keep-alive time,
 * Node uses the shorter of both.
 */
function limitKeepAlive<Agent extends HttpAgent>(agent: Agent): Agent {
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    const isKeptAlive = keep(socket);
    // Node sets the timeout only when its value changes. After a slowly read body the timeout may have fired already
    // and would never fire again.
    if (socket instanceof Socket) socket.setTimeout(socket.timeout ?? KEEP_ALIVE_MS);
    return isKeptAlive;
  };
  return agent;
}

const KEEP_ALIVE_MS = 2000;

/** The timeout applies to idle connections only: a connection in use has no timeout listener. */
const AGENT_OPTIONS = { keepAlive: true, timeout: KEEP_ALIVE_MS } as const;

function toHttpResponse(incoming: IncomingMessage): HttpResponse {
  return {
    status: incoming.statusCode ?? 0,
    headers: Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    ),
    body: incoming,
    close: () => void incoming.destroy(),
  };
}
