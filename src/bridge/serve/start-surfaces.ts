import { createSharedAbort } from "../../async/shared-abort.ts";
import { withCleanup } from "../../async/with-cleanup.ts";
import { formatThrown } from "../../domain/errors.ts";
import { createAccess, createTokenKey, type Access } from "../../http/access/access.ts";
import { readKeys } from "../../http/access/access-keys.ts";
import { isLoopback } from "../../http/access/loopback.ts";
import { createRateLimits, type RateLimits } from "../../http/access/rate-limits.ts";
import { createAccessLog } from "../../http/operations/access-log.ts";
import { createLazyMetrics } from "../../http/operations/lazy-metrics.ts";
import type { Metrics } from "../../http/operations/metrics.ts";
import { createOperationRoutes } from "../../http/operations/operation-routes.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { createRequestId } from "../../http/routing/http-request-id.ts";
import { formatOpenAiError } from "../../http/routing/openai-errors.ts";
import { createRouter, type Route, type RouteGroup } from "../../http/routing/router.ts";
import type { ServerLimits } from "../../http/server/server-options.ts";
import { startHttpServer, type HttpServer } from "../../http/server/start-server.ts";
import { createLazySockets } from "../../http/sockets/lazy-sockets.ts";
import type { SocketRoute } from "../../http/sockets/web-sockets.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { readPackageVersion } from "../../platform/package-version.ts";
import { passMethods } from "../../session/session-methods.ts";
import type { Sessions } from "../../session/sessions.ts";
import { createA2aSurface } from "../../surfaces/a2a/a2a-surface.ts";
import { PushService } from "../../surfaces/a2a/push/push-service.ts";
import type { AcpServerOptions } from "../../surfaces/acp/connection/caller-connection.ts";
import { createAcpHttp } from "../../surfaces/acp/http/acp-http-routes.ts";
import { createAcpSocketRoute } from "../../surfaces/acp/socket/acp-socket-route.ts";
import { createLogins } from "../../surfaces/portal/login/logins.ts";
import { createInboxIndex, type InboxIndex } from "../../surfaces/portal/live/inbox-index.ts";
import { createLiveSocketRoute } from "../../surfaces/portal/live/live-socket-route.ts";
import { PORTAL_LIMITS, createPortalRoutes } from "../../surfaces/portal/portal-routes.ts";
import {
  createResponsesSurface,
  type ResponsesSurface,
} from "../../surfaces/responses/responses-surface.ts";
import { runWebhooks } from "../../surfaces/webhooks/webhook-dispatcher.ts";
import { createLineCache } from "../../wire/acp/encode/line-cache.ts";
import type { ServeSettings } from "../configured/serve-settings.ts";
import { createDeterministicSessions } from "./deterministic-sessions.ts";
import { findPortalBuild } from "./find-portal-build.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface SurfacesOptions {
  readonly sessions: Sessions;
  readonly clock: SteadyClock;
  readonly host: string;
  readonly port: number;
  readonly serving: ServeSettings;
  /** Grants all rights of the local user. */
  readonly token: string;
  /** True if the portal is served, too. */
  readonly portal: boolean;
  /** Receives the lines of the access log. Undefined: no access log. */
  readonly accessLog?: (line: string) => void;
  readonly report: (error: unknown) => void;
}

/** Starts one HTTP server with all surfaces. Rejects if the server cannot listen. */
export async function startSurfaces(options: SurfacesOptions): Promise<HttpServer> {
  const ending = new AbortController();
  const parts = createSharedParts(options, ending.signal);
  const api = await createApiSurface(options, parts);
  const portal = createPortal(options, parts);
  const editors = createEditorOptions(options, parts.rates);
  const acp = createAcpHttp(editors);
  const operations = createHealthRoutes(options, parts);
  const push = createPush(options, parts);
  const groups: RouteGroups = [
    api,
    createA2a(options, parts, push),
    { routes: [...operations, ...acp.routes], formatError: formatOpenAiError },
  ];
  const server = await listen(options, parts, {
    groups: options.portal ? [portal, ...groups] : groups,
    sockets: [
      ...api.sockets,
      createAcpSocketRoute(editors),
      ...(options.portal ? [portal.live] : []),
    ],
  });
  const dispatching = Promise.all([
    startWebhooks(options, parts, server.url),
    push?.run(ending.signal),
  ]);
  return {
    ...server,
    async close() {
      // Running responses end before their connections are closed.
      ending.abort();
      await acp.close();
      await dispatching;
      await server.close(CLOSE_GRACE_MS);
      parts.metrics.close();
    },
  };
}

const CLOSE_GRACE_MS = 2000;

/** Parts used by more than one surface. */
interface SharedParts {
  readonly sessions: Sessions;
  readonly access: Access;
  readonly rates: RateLimits;
  readonly metrics: Metrics;
  readonly inbox: InboxIndex;
  readonly version: string;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

function createSharedParts(options: SurfacesOptions, closing: AbortSignal): SharedParts {
  const { clock, host, serving, token, report } = options;
  const sessions = stopSessionsOnSignal(options.sessions, closing);
  return {
    sessions,
    access: createAccess({ host, keys: serving.keys, token }),
    rates: createRateLimits(serving.rates, clock),
    metrics: createLazyMetrics(report),
    inbox: createInboxIndex(sessions),
    version: readPackageVersion(),
    closing,
  };
}

async function createApiSurface(
  options: SurfacesOptions,
  { sessions, access, rates, metrics }: SharedParts,
): Promise<ResponsesSurface> {
  const { clock, serving, report } = options;
  return createResponsesSurface({
    ...(serving.deterministic
      ? await createDeterministicSessions(sessions, clock)
      : { sessions, clock }),
    access,
    rates,
    // On a loopback address without keys, every client is the local user.
    settings: { adoptSessions: isKeyless(options), ...serving.settings },
    observe({ outcome, ...tokens }) {
      metrics.countTurn(outcome);
      metrics.countTokens(tokens);
    },
    report,
  });
}

function createA2a(
  options: SurfacesOptions,
  { sessions, access, rates, version }: SharedParts,
  push: PushService | undefined,
): RouteGroup {
  const { clock, serving, report } = options;
  const { a2a: settings, publicUrl } = serving;
  const { heartbeatMs, stalledMs } = serving.settings;
  const isLocal = isKeyless(options);
  return createA2aSurface({
    sessions,
    access,
    rates,
    settings,
    version,
    requiresKey: !isLocal,
    adoptContexts: serving.settings.adoptSessions ?? isLocal,
    streaming: { clock, ...omitUndefined({ heartbeatMs, stalledMs }) },
    report,
    ...omitUndefined({ publicUrl, push }),
  });
}

/** Undefined if A2A clients get no push notifications. Without keys, they must be configured. */
function createPush(
  options: SurfacesOptions,
  { sessions, version }: SharedParts,
): PushService | undefined {
  const { clock, serving, token, report } = options;
  const { push } = serving.a2a;
  const { enabled = push !== undefined || !isKeyless(options), allowPrivate = false } = push ?? {};
  if (!enabled) return undefined;
  const callers = [...readKeys(serving.keys), createTokenKey(token)].map(({ caller }) => caller);
  return new PushService({ sessions, callers, clock, version, allowPrivate, report });
}

interface Portal extends RouteGroup {
  readonly live: SocketRoute;
}

function createPortal(options: SurfacesOptions, parts: SharedParts): Portal {
  const { clock, serving, token, report } = options;
  const { sessions, inbox, version, closing } = parts;
  const keys = [...readKeys(serving.keys), createTokenKey(token)];
  const logins = createLogins({ records: sessions, clock, keys });
  const portalOptions = { sessions, clock, token, keyless: isKeyless(options), logins };
  return {
    ...createPortalRoutes({ ...portalOptions, findPages: findPortalBuild }),
    live: createLiveSocketRoute({ ...portalOptions, version, report, closing, inbox }),
  };
}

/** Uses the original sessions instead of the wrapped sessions, because ACP clients are detached after the signal. */
function createEditorOptions(options: SurfacesOptions, rates: RateLimits): AcpServerOptions {
  const { sessions, clock, host, serving, token, report } = options;
  return {
    sessions,
    // Unknown keys are rejected. Otherwise a client with a wrong token would lack rights without learning why.
    access: createAccess({ host, keys: serving.keys, token, knownKeysOnly: true }),
    rates,
    clock,
    lines: createLineCache(),
    ...omitUndefined({ updates: serving.updates }),
    // A client receives its own errors in responses. Only internal errors are reported here.
    log(message, { error } = {}) {
      if (error !== undefined)
        report(new Error(`An ACP client: ${message}: ${formatThrown(error)}`));
    },
  };
}

function createHealthRoutes(
  { clock }: SurfacesOptions,
  { sessions, metrics, access }: SharedParts,
): readonly Route[] {
  const checks = {
    sessions: async () => void (await sessions.list({ limit: 1 })),
    log: () => sessions.checkLog(),
  };
  return createOperationRoutes({ clock, checks, metrics, access });
}

type RouteGroups = readonly [RouteGroup, ...RouteGroup[]];

interface ServedRoutes {
  readonly groups: RouteGroups;
  readonly sockets: readonly SocketRoute[];
}

function listen(
  options: SurfacesOptions,
  { metrics }: SharedParts,
  { groups, sockets }: ServedRoutes,
): Promise<HttpServer> {
  const { clock, host, port, serving, report, accessLog } = options;
  const observers = [
    metrics,
    ...(accessLog === undefined ? [] : [createAccessLog({ clock, write: accessLog })]),
  ];
  const upgrades = createLazySockets({
    routes: sockets,
    formatError: formatOpenAiError,
    clock,
    observers,
    onBug: report,
    ...omitUndefined({ sockets: serving.limits.sockets }),
  });
  return startHttpServer({
    host,
    port,
    allowedHosts: serving.allowedHosts,
    allowedOrigins: serving.allowedOrigins,
    limits: resolveServerLimits(serving),
    newRequestId: createRequestId,
    upgrades,
    observers,
    clock,
    onBug: report,
    ...createRouter(groups, report),
  });
}

function startWebhooks(
  { clock, serving, report }: SurfacesOptions,
  { sessions, inbox, version, closing }: SharedParts,
  serverUrl: string,
): Promise<void> {
  const { webhooks, publicUrl = serverUrl } = serving;
  const dispatch = { sessions, clock, version, report, signal: closing, inbox };
  return runWebhooks({ ...dispatch, webhooks, publicUrl });
}

function isKeyless({ host, serving }: SurfacesOptions): boolean {
  return isLoopback(host) && serving.keys.length === 0;
}

/** Prompts may contain images and need a large body limit. All other requests are short. */
function resolveServerLimits({ limits }: ServeSettings): ServerLimits {
  const { bodyBytes = DEFAULT_BODY_BYTES, connections } = limits;
  return {
    ...PORTAL_LIMITS,
    bodyBytes(path) {
      if (path.startsWith("/api/")) return PORTAL_LIMITS.bodyBytes(path);
      return PROMPT_PATHS.test(path) ? bodyBytes : OTHER_BODY_BYTES;
    },
    ...omitUndefined({ connections }),
  };
}

const PROMPT_PATHS =
  /^\/(?:acp$|(?:v1\/)?(?:responses|chat|inference|conversations)(?:\/|$)|a2a(?:\/|$))/;
const DEFAULT_BODY_BYTES = 32 * 1024 * 1024;
const OTHER_BODY_BYTES = 64 * 1024;

/** Wraps sessions for HTTP clients: after the signal, subscriptions end and new commands are refused with 503. */
function stopSessionsOnSignal(sessions: Sessions, end: AbortSignal): Sessions {
  const readers = createSharedAbort(end);
  const refuse = (): void => {
    if (end.aborted) throw createShutdownError();
  };
  const stream = <Item>(
    signal: AbortSignal,
    open: (joined: AbortSignal) => AsyncIterable<Item>,
  ): AsyncIterable<Item> => ({
    [Symbol.asyncIterator]() {
      const reading = readers.join(signal);
      return withCleanup(open(reading.signal)[Symbol.asyncIterator](), reading.leave);
    },
  });
  return {
    ...passMethods(sessions, [
      "setClientTools",
      "status",
      "readUsage",
      "readHistory",
      "listToolRules",
      "find",
      "list",
      "readBlob",
      "readRecord",
      "putRecord",
      "deleteRecord",
      "listRecords",
      "delete",
      "checkCredentials",
      "checkLog",
    ]),
    get agents() {
      return sessions.agents;
    },
    async open(options) {
      refuse();
      return sessions.open(options);
    },
    async openWithPrompt(options, first) {
      refuse();
      return sessions.openWithPrompt(options, first);
    },
    async command(sessionId, command, from) {
      refuse();
      return sessions.command(sessionId, command, from);
    },
    subscribe: (sessionId, cursor, signal) =>
      stream(signal, (joined) => sessions.subscribe(sessionId, cursor, joined)),
    watchSessions: (signal) => stream(signal, (joined) => sessions.watchSessions(joined)),
  };
}

function createShutdownError(): ApiError {
  return new ApiError(503, "service_failed", "The server is shutting down", {
    reason: "server_ending",
    hint: "Nothing was run. Fix: retry after the server has restarted",
    headers: { "retry-after": "2", "x-should-retry": "true" },
  });
}
