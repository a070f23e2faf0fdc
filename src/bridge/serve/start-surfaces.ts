import { thrownMessage } from "../../domain/errors.ts";
import { accessLog } from "../../http/access-log.ts";
import { accessBy } from "../../http/access.ts";
import { lazyMetrics } from "../../http/lazy-metrics.ts";
import { lazySockets } from "../../http/lazy-sockets.ts";
import { isLoopback } from "../../http/loopback.ts";
import { openAiErrors } from "../../http/openai-errors.ts";
import { operationRoutes } from "../../http/operation-routes.ts";
import { rateLimits } from "../../http/rate-limits.ts";
import { newRequestId } from "../../http/request-id.ts";
import { router, type RouteGroup } from "../../http/router.ts";
import { startServer, type RunningServer } from "../../http/server.ts";
import type { ServerLimits } from "../../http/server-options.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { AcpServingOptions } from "../../surfaces/acp/caller-connection.ts";
import { acpHttp } from "../../surfaces/acp/http-routes.ts";
import { sharedLines } from "../../wire/acp/shared-lines.ts";
import { acpSocketRoute } from "../../surfaces/acp/socket-route.ts";
import { PORTAL_LIMITS, portalRoutes } from "../../surfaces/portal/portal-routes.ts";
import { responsesSurface } from "../../surfaces/responses/responses-surface.ts";
import type { Serving } from "../config/configured-serving.ts";
import { endingSessions } from "./ending-sessions.ts";
import { repeatable } from "./repeatable-sessions.ts";

export interface SurfacesOptions {
  readonly sessions: Sessions;
  readonly clock: SteadyClock;
  readonly host: string;
  readonly port: number;
  readonly serving: Serving;
  /** Whoever has it may do everything, as this machine's user. */
  readonly token: string;
  /** Whether browsers are served too. */
  readonly portal: boolean;
  /** Takes the lines of the access log; there is none without it. */
  readonly accessLog?: (line: string) => void;
  readonly report: (error: unknown) => void;
}

/** Everything that is served over HTTP, on one server. Rejects when it cannot listen. */
export async function startSurfaces(options: SurfacesOptions): Promise<RunningServer> {
  const { clock, host, port, serving, token, report } = options;
  const ending = new AbortController();
  const sessions = endingSessions(options.sessions, ending.signal);
  const access = accessBy({ host, keys: serving.keys, token });
  const metrics = lazyMetrics(report);
  const observers = [
    metrics,
    ...(options.accessLog === undefined ? [] : [accessLog({ clock, write: options.accessLog })]),
  ];
  const rates = rateLimits(serving.rates, clock);
  const checks = {
    sessions: async () => void (await sessions.list({ limit: 1 })),
    log: () => sessions.checkLog(),
  };
  const surface = responsesSurface({
    ...(serving.deterministic ? await repeatable(sessions, clock) : { sessions, clock }),
    access,
    rates,
    // Whoever reaches a server of this machine only, and needs no key there, is its user.
    settings: { adoptSessions: isKeyless(options), ...serving.settings },
    observe({ outcome, ...tokens }) {
      metrics.turnEnded(outcome);
      metrics.tokensUsed(tokens);
    },
    report,
  });
  const portal = portalRoutes({ sessions, clock, token, keyless: isKeyless(options) });
  // Not the sessions that end with the server: a client of this one is detached in the end.
  const editors: AcpServingOptions = {
    sessions: options.sessions,
    // A wrong token would be a client that may not answer, and never learns why.
    access: accessBy({ host, keys: serving.keys, token, knownKeysOnly: true }),
    rates,
    clock,
    lines: sharedLines(),
    ...(serving.updates !== undefined && { updates: serving.updates }),
    // What a client does wrong it is told itself; what goes wrong here is for whoever runs it.
    log(message, { error } = {}) {
      if (error !== undefined)
        report(new Error(`An ACP client: ${message}: ${thrownMessage(error)}`));
    },
  };
  const streamed = acpHttp(editors);
  const operations = operationRoutes({ clock, checks, metrics, access });
  const groups: readonly [RouteGroup, ...RouteGroup[]] = [
    surface,
    { routes: [...operations, ...streamed.routes], errors: openAiErrors },
  ];
  const sockets = lazySockets({
    routes: [...surface.sockets, acpSocketRoute(editors)],
    errors: openAiErrors,
    clock,
    observers,
    onBug: report,
    ...(serving.limits.sockets !== undefined && { sockets: serving.limits.sockets }),
  });
  const server = await startServer({
    host,
    port,
    allowedHosts: serving.allowedHosts,
    allowedOrigins: serving.allowedOrigins,
    limits: limitsOf(serving),
    newRequestId,
    upgrades: sockets,
    observers,
    clock,
    onBug: report,
    ...router(options.portal ? [portal, ...groups] : groups, report),
  });
  return {
    ...server,
    async close() {
      // What is being read comes to its end before the connections do.
      ending.abort();
      await streamed.close();
      await server.close(PATIENCE_MS);
      metrics.close();
    },
  };
}

const PATIENCE_MS = 2000;

function isKeyless({ host, serving }: SurfacesOptions): boolean {
  return isLoopback(host) && serving.keys.length === 0;
}

/** A conversation may bring pictures along; the portal's requests are short, and whoever needs no key says nothing. */
function limitsOf({ limits }: Serving): ServerLimits {
  const { bodyBytes = DEFAULT_BODY_BYTES, connections } = limits;
  return {
    ...PORTAL_LIMITS,
    bodyBytes(path) {
      if (path.startsWith("/api/")) return PORTAL_LIMITS.bodyBytes(path);
      return ASKING.test(path) ? bodyBytes : OTHER_BODY_BYTES;
    },
    ...(connections !== undefined && { connections }),
  };
}

const ASKING = /^\/(?:acp$|(?:v1\/)?(?:responses|chat|inference|conversations)(?:\/|$))/;
const DEFAULT_BODY_BYTES = 32 * 1024 * 1024;
const OTHER_BODY_BYTES = 64 * 1024;
