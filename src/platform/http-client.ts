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
  /** How long a new connection may take, handshake and all; without it, and for `Infinity`, as long as it takes. */
  readonly connectMilliseconds?: number;
}

/** Bytes, or consecutive parts of them, which are sent without being copied into one. */
export type HttpBody = Uint8Array | readonly Uint8Array[];

export function toBodyParts(body: HttpBody): readonly Uint8Array[] {
  return body instanceof Uint8Array ? [body] : body;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. A header that came several times is joined with commas. */
  readonly headers: { readonly [name: string]: string };
  /** Read once. Leaving it early closes the connection; reading slowly slows the sender down. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection unless all of the body has been read. */
  close(): void;
}

/** No answer came; `cause` is Node's own error. */
export class NoResponseError extends Error {
  /** Whether there was a connection, so that the request may have reached the other side. */
  readonly wasSent: boolean;

  constructor(cause: Error, wasSent: boolean) {
    super(cause.message === "" ? String(Object(cause)["code"]) : cause.message, { cause });
    this.name = "NoAnswerError";
    this.wasSent = wasSent;
  }
}

/** Sends a request once, and rejects with a `NoAnswerError` when no answer comes. The signal ends it at any point. */
export type SendHttp = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;

export interface HttpClient {
  readonly send: SendHttp;
  /** Closes the connections that are kept for later. */
  close(): void;
}

/** Speaks HTTP/1.1. Of time only connecting has a limit here: for all else callers know what they wait for. */
export function createHttpClient(): HttpClient {
  const http = limitKeepAlive(new HttpAgent(AGENT_OPTIONS));
  const https = limitKeepAlive(new HttpsAgent(AGENT_OPTIONS));
  return {
    send: ({ method, url, headers, body, connectMilliseconds = Infinity }, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted)
          return reject(new NoResponseError(new Error("It was ended before"), false));
        const isPlain = url.protocol === "http:";
        const settings = { method, headers, signal };
        const outgoing = isPlain
          ? requestHttp(url, { ...settings, agent: http })
          : requestHttps(url, { ...settings, agent: https });
        let wasSent = false;
        outgoing.on("socket", (socket) => {
          // An abort that meets a finished answer destroys a socket that nobody else listens to any more.
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
          reject(new NoResponseError(new Error("The other side wants another protocol"), true));
        });
        // Whatever else becomes of it, nobody waits for a connection that is gone.
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

/** Node writes the parts at once when the last one is there. */
function sendBody(outgoing: ClientRequest, body: HttpBody | undefined): void {
  if (body === undefined || body instanceof Uint8Array) return void outgoing.end(body);
  const length = body.reduce((sum, part) => sum + part.length, 0);
  outgoing.setHeader("content-length", length);
  outgoing.cork();
  for (const part of body) outgoing.write(part);
  outgoing.end();
}

function ignore(): void {}

/** Ends a request that has no connection in time; gives back how to say that it has one. */
function limitConnectTime(outgoing: ClientRequest, milliseconds: number): () => void {
  if (milliseconds === Infinity) return ignore;
  const timeoutError = new Error(`There was no connection within ${milliseconds / 1000} s`);
  const timer = setTimeout(
    () => outgoing.destroy(timeoutError),
    Math.min(milliseconds, MAX_TIMER_MS),
  );
  const cancelTimer = (): void => clearTimeout(timer);
  outgoing.once("close", cancelTimer);
  return cancelTimer;
}

/** What a timer of Node's can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Keeps connections for as long as the next step of a turn may take, and no longer: a server closes one that is idle at
 * a time of its own choosing, and what was sent into it at that moment cannot be sent again. Of a time that the server
 * announces, node takes the shorter one.
 */
function limitKeepAlive<Agent extends HttpAgent>(agent: Agent): Agent {
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    const isKeptAlive = keep(socket);
    // Node sets the time only when it changes: of a body that was read late it may be over, and would never come again.
    if (socket instanceof Socket) socket.setTimeout(socket.timeout ?? KEEP_ALIVE_MS);
    return isKeptAlive;
  };
  return agent;
}

const KEEP_ALIVE_MS = 2000;

/** The time is for connections that wait: of one in use, nobody listens for it. */
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
