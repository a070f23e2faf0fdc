import { createJsonResponse } from "../../http/routing/json-response.ts";
import type { Route } from "../../http/routing/router.ts";
import { authenticate } from "./portal-access.ts";
import type { PortalOptions } from "./portal-options.ts";
import { findSession } from "./session-resource.ts";

/** The routes to read the usage, the budgets and the tools of a session. */
export function createStatusRoutes(options: PortalOptions): Route[] {
  const { sessions } = options;
  return [
    {
      method: "GET",
      path: "/api/sessions/:id/usage",
      async handle(request, { id = "" }) {
        await findSession(sessions, id, await authenticate(request, options));
        return createJsonResponse(200, { usage: await sessions.readUsage(id) });
      },
    },
    {
      method: "GET",
      path: "/api/sessions/:id/tools",
      async handle(request, { id = "" }) {
        await findSession(sessions, id, await authenticate(request, options));
        return createJsonResponse(200, { tools: await sessions.listToolRules(id) });
      },
    },
  ];
}
