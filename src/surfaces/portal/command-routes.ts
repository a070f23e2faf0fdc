import { authenticate, requireRight } from "./portal-access.ts";
import { createFailureBody } from "./error-body.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import type { PortalOptions } from "./portal-options.ts";
import { readCommand, createSender } from "./read-command.ts";
import { readJsonBody } from "../../http/routing/json-body.ts";
import { encodePendingInjections } from "../../wire/acp/decode/steering-messages.ts";
import type { Route } from "../../http/routing/router.ts";
import { findSession } from "./session-resource.ts";

/** Routes for session commands, a single command per request. */
export function createCommandRoutes(options: PortalOptions): Route[] {
  return [
    {
      method: "POST",
      path: "/api/sessions/:id/commands",
      async handle(request, { id = "" }) {
        const principal = await authenticate(request, options);
        const { command, right, what } = readCommand(readJsonBody(request));
        requireRight(principal, right, what);
        await findSession(options.sessions, id, principal);
        const reply = await options.sessions.command(id, command, createSender(request, principal));
        return reply.status === "refused"
          ? createJsonResponse(409, createFailureBody(reply.failure))
          : createJsonResponse(200, reply);
      },
    },
    {
      method: "GET",
      path: "/api/sessions/:id/injections",
      async handle(request, { id = "" }) {
        const principal = await authenticate(request, options);
        await findSession(options.sessions, id, principal);
        const { pendingInjections } = await options.sessions.status(id);
        return createJsonResponse(200, encodePendingInjections(pendingInjections));
      },
    },
  ];
}
