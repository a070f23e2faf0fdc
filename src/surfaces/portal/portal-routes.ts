import type { ServerLimits } from "../../http/server/server-options.ts";
import { createArtifactRoutes } from "./artifact-routes.ts";
import { createCommandRoutes } from "./command-routes.ts";
import { formatPortalError } from "./error-body.ts";
import { createContentRoutes } from "./content-routes.ts";
import { createEventRoutes } from "./event-routes.ts";
import { createLoginRoutes } from "./login/login-routes.ts";
import { createPageRoutes, type PageOptions } from "./page-routes.ts";
import type { PortalOptions } from "./portal-options.ts";
import { createPromptRoutes } from "./prompt-routes.ts";
import type { RouteGroup } from "../../http/routing/router.ts";
import { createSessionRoutes } from "./session-routes.ts";
import { createStatusRoutes } from "./status-routes.ts";

/** Size limits of a request to the portal. */
export const PORTAL_LIMITS: ServerLimits = {
  // Prompts and messages may contain images.
  bodyBytes: (path) => (/\/(?:prompt|commands)$/.test(path) ? 8_000_000 : 1_000_000),
  headerBytes: 32 * 1024,
};

/** The portal: its pages, and the HTTP API used by the pages and by `curl`. */
export function createPortalRoutes(options: PortalOptions & PageOptions): RouteGroup {
  return {
    routes: [
      ...createPageRoutes(options),
      ...createLoginRoutes(options),
      ...createSessionRoutes(options),
      ...createEventRoutes(options),
      ...createCommandRoutes(options),
      ...createPromptRoutes(options),
      ...createContentRoutes(options),
      ...createArtifactRoutes(options),
      ...createStatusRoutes(options),
    ],
    formatError: formatPortalError,
  };
}
