import { request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { startHttpServer, type HttpServer } from "../../src/http/server/start-server.ts";
import { createTokenKey } from "../../src/http/access/access.ts";
import { readKeys, type AccessKey } from "../../src/http/access/access-keys.ts";
import { createWebSockets } from "../../src/http/sockets/web-sockets.ts";
import { systemClock, type Clock, type SteadyClock } from "../../src/platform/clock.ts";
import type { Sessions } from "../../src/session/sessions.ts";
import { formatPortalError } from "../../src/surfaces/portal/error-body.ts";
import { createInboxIndex } from "../../src/surfaces/portal/live/inbox-index.ts";
import { createLiveSocketRoute } from "../../src/surfaces/portal/live/live-socket-route.ts";
import { createLogins } from "../../src/surfaces/portal/login/logins.ts";
import type { PortalOptions } from "../../src/surfaces/portal/portal-options.ts";
import type { PageOptions } from "../../src/surfaces/portal/page-routes.ts";
import { PORTAL_LIMITS, createPortalRoutes } from "../../src/surfaces/portal/portal-routes.ts";
import { createRouter } from "../../src/http/routing/router.ts";
import { createFakeClock } from "../support/fake-clock.ts";

export const TOKEN = "the-token-of-this-run";

export interface ServedPortal extends HttpServer {
  /** Unexpected errors. Errors still in this list at the end fail the test. */
  readonly bugs: unknown[];
  readonly routes: readonly (readonly [method: string, path: string])[];
  /** The response with its body unread. */
  begin(method: string, path: string, options?: CallOptions): Promise<IncomingMessage>;
  get(path: string, headers?: Headers): Promise<Answer>;
  post(path: string, body: unknown, headers?: Headers): Promise<Answer>;
}

type Headers = { readonly [name: string]: string };

export interface CallOptions {
  readonly headers?: Headers;
  readonly body?: string;
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** Undefined if the body is not JSON. */
  readonly json: unknown;
}

export const withToken = { authorization: `Bearer ${TOKEN}` };

/** The portal behind the real server, on a real socket. */
export async function servedPortal(
  sessions: Sessions,
  options: Partial<PortalOptions & PageOptions> & {
    readonly clock?: Clock;
    readonly keys?: readonly AccessKey[];
    /** For pings and stalled sockets. Default: the system's. */
    readonly socketClock?: SteadyClock;
  } = {},
): Promise<ServedPortal> {
  const bugs: unknown[] = [];
  const onBug = (error: unknown): void => void bugs.push(error);
  const clock = createFakeClock();
  const keys = [...readKeys(options.keys ?? []), createTokenKey(TOKEN)];
  const logins = createLogins({ records: sessions, clock: options.clock ?? clock, keys });
  const findPages = (): undefined => undefined;
  const portalOptions = {
    sessions,
    token: TOKEN,
    keyless: true,
    clock,
    logins,
    findPages,
    ...options,
  };
  const group = createPortalRoutes(portalOptions);
  const closing = new AbortController();
  const live = createLiveSocketRoute({
    ...portalOptions,
    version: "1.2.3",
    report: onBug,
    closing: closing.signal,
    inbox: createInboxIndex(sessions),
  });
  const sockets = {
    routes: [live],
    formatError: formatPortalError,
    clock: options.socketClock ?? systemClock,
    onBug,
  };
  const server = await startHttpServer({
    host: "127.0.0.1",
    port: 0,
    limits: PORTAL_LIMITS,
    upgrades: createWebSockets(sockets),
    onBug,
    ...createRouter([group], onBug),
  });
  const begin: ServedPortal["begin"] = (method, path, { headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const { port } = server;
      const call = httpRequest({ host: "127.0.0.1", port, method, path, headers }, resolve);
      call.on("error", reject);
      call.end(body);
    });
  return {
    ...server,
    bugs,
    routes: group.routes.map(({ method, path }) => [method, path]),
    begin,
    async close() {
      closing.abort();
      await server.close();
      if (bugs.length > 0)
        throw new AggregateError(bugs, `A bug in the portal: ${String(bugs[0])}`);
    },
    get: async (path, headers = {}) => answerOf(await begin("GET", path, { headers })),
    async post(path, body, headers = {}) {
      const json = { "content-type": "application/json", ...headers };
      return answerOf(
        await begin("POST", path, {
          headers: json,
          body: typeof body === "string" ? body : JSON.stringify(body),
        }),
      );
    },
  };
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
