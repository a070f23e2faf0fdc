import { principalOf, requireRight } from "./portal-access.ts";
import { failureBody } from "./error-body.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import type { PortalOptions } from "./portal-options.ts";
import { readCommand, senderOf } from "./read-command.ts";
import { readJsonBody } from "../../http/routing/json-body.ts";
import type { Route } from "../../http/routing/router.ts";
import { foundSession } from "./session-view.ts";

/** Routes for session commands, one command per request. */
export function commandRoutes(options: PortalOptions): Route[] {
  return [
    {
      method: "POST",
      path: "/api/sessions/:id/commands",
      async handle(request, { id = "" }) {
        const principal = principalOf(request, options);
        const { command, right, what } = readCommand(readJsonBody(request));
        requireRight(principal, right, what);
        await foundSession(options.sessions, id, principal);
        const reply = await options.sessions.command(id, command, senderOf(request, principal));
        return reply.status === "refused"
          ? createJsonResponse(409, failureBody(reply.failure))
          : createJsonResponse(200, reply);
      },
    },
  ];
}
