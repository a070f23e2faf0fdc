import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { formatOpenAiError } from "../../src/http/routing/openai-errors.ts";
import { createRouter, type Route, type RouteGroup } from "../../src/http/routing/router.ts";
import { startHttpServer, type HttpServer } from "../../src/http/server/start-server.ts";
import type { ServerOptions } from "../../src/http/server/server-options.ts";
import type { ServedResponse } from "../../src/http/server/http-types.ts";

type Headers = { readonly [name: string]: string };

export interface Call {
  readonly headers?: Headers;
  readonly body?: string | Uint8Array;
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** Undefined if the body is not JSON. */
  readonly json: unknown;
}

export interface Served extends HttpServer {
  /** Unexpected errors. */
  readonly bugs: unknown[];
  readonly begin: (method: string, path: string, call?: Call) => Promise<IncomingMessage>;
  readonly call: (method: string, path: string, call?: Call) => Promise<Answer>;
  /** A connection on which raw bytes are sent. */
  raw(bytes?: string | Uint8Array): Promise<Socket>;
}

export const TEST_LIMITS = { bodyBytes: () => 1000, headerBytes: 16 * 1024 };

/**
 * Serves routes behind the real server on a real socket. Errors have OpenAI's form unless the group defines another.
 */
export async function served(
  routes: readonly Route[] | readonly [RouteGroup, ...RouteGroup[]],
  options: Partial<ServerOptions> = {},
): Promise<Served> {
  const bugs: unknown[] = [];
  const onBug = (error: unknown): void => void bugs.push(error);
  let ids = 0;
  const server = await startHttpServer({
    host: "127.0.0.1",
    port: 0,
    limits: TEST_LIMITS,
    newRequestId: () => `req_${++ids}`,
    onBug,
    ...createRouter(
      isGroups(routes) ? routes : [{ routes, formatError: formatOpenAiError }],
      onBug,
    ),
    ...options,
  });
  const begin: Served["begin"] = (method, path, { headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const { port } = server;
      const call = httpRequest({ host: "127.0.0.1", port, method, path, headers }, resolve);
      call.on("error", reject);
      call.end(body);
    });
  return {
    ...server,
    bugs,
    begin,
    async call(method, path, call) {
      return answerOf(await begin(method, path, call));
    },
    async raw(bytes) {
      const socket = connect(server.port, "127.0.0.1");
      await once(socket, "connect");
      socket.on("error", () => {});
      if (bytes !== undefined) socket.write(bytes);
      return socket;
    },
  };
}

export function plain(body: string): ServedResponse {
  return { status: 200, headers: { "content-type": "text/plain" }, body: Buffer.from(body) };
}

function isGroups(
  routes: readonly Route[] | readonly [RouteGroup, ...RouteGroup[]],
): routes is readonly [RouteGroup, ...RouteGroup[]] {
  return routes.some((one) => "routes" in one);
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  const body = await text(response);
  const isJson = response.headers["content-type"]?.startsWith("application/json") === true;
  return {
    status: response.statusCode,
    headers: response.headers,
    text: body,
    json: isJson ? JSON.parse(body) : undefined,
  };
}
