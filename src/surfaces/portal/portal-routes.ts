import type { ServerLimits } from "../../http/server/server-options.ts";
import { createCommandRoutes } from "./command-routes.ts";
import { formatPortalError } from "./error-body.ts";
import { createEventRoutes } from "./event-routes.ts";
import { createPageRoutes } from "./page-routes.ts";
import type { PortalOptions } from "./portal-options.ts";
import { createPromptRoutes } from "./prompt-routes.ts";
import type { RouteGroup } from "../../http/routing/router.ts";
import { createSessionRoutes } from "./session-routes.ts";

/** Size limits of a request to the portal. */
export const PORTAL_LIMITS: ServerLimits = {
  bodyBytes: () => 1_000_000,
  headerBytes: 32 * 1024,
};

/** The portal: its pages, and the HTTP API used by the pages and by `curl`. */
export function createPortalRoutes(options: PortalOptions): RouteGroup {
  return {
    routes: [
      ...createPageRoutes(options),
      ...createSessionRoutes(options),
      ...createEventRoutes(options),
      ...createCommandRoutes(options),
      ...createPromptRoutes(options),
    ],
    formatError: formatPortalError,
  };
}
