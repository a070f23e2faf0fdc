import { principalOf, requireRight } from "./access.ts";
import { failureBody } from "./error-body.ts";
import { jsonAnswer } from "../../http/json-answer.ts";
import type { PortalOptions } from "./portal-options.ts";
import { readCommand } from "./read-command.ts";
import { jsonBodyOf } from "../../http/json-body.ts";
import type { Route } from "../../http/router.ts";
import { senderOf } from "./sender.ts";
import { foundSession } from "./session-view.ts";

/** What a client can ask of a session, one command for a request. */
export function commandRoutes(options: PortalOptions): Route[] {
  return [
    {
      method: "POST",
      path: "/api/sessions/:id/commands",
      async handle(request, { id = "" }) {
        const principal = principalOf(request, options);
        const { command, right, what } = readCommand(jsonBodyOf(request));
        requireRight(principal, right, what);
        await foundSession(options.sessions, id, principal);
        const reply = await options.sessions.command(id, command, senderOf(request, principal));
        return reply.status === "refused"
          ? jsonAnswer(409, failureBody(reply.failure))
          : jsonAnswer(200, reply);
      },
    },
  ];
}
