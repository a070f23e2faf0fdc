import type { ServerLimits } from "../../http/server/server-options.ts";
import { commandRoutes } from "./command-routes.ts";
import { portalErrors } from "./error-body.ts";
import { eventRoutes } from "./event-routes.ts";
import { pageRoutes } from "./page-routes.ts";
import type { PortalOptions } from "./portal-options.ts";
import { promptRoutes } from "./prompt-routes.ts";
import type { RouteGroup } from "../../http/routing/router.ts";
import { sessionRoutes } from "./session-routes.ts";

/** Size limits of a request to the portal. */
export const PORTAL_LIMITS: ServerLimits = {
  bodyBytes: () => 1_000_000,
  headerBytes: 32 * 1024,
};

/** The portal: its pages, and the HTTP API used by the pages and by `curl`. */
export function portalRoutes(options: PortalOptions): RouteGroup {
  return {
    routes: [
      ...pageRoutes(options),
      ...sessionRoutes(options),
      ...eventRoutes(options),
      ...commandRoutes(options),
      ...promptRoutes(options),
    ],
    formatError: portalErrors,
  };
}
