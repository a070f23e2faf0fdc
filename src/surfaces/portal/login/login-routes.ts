import { canUseAgent } from "../../../http/access/caller.ts";
import { ApiError } from "../../../http/routing/api-error.ts";
import { readJsonBody } from "../../../http/routing/json-body.ts";
import { createJsonResponse } from "../../../http/routing/json-response.ts";
import type { Route } from "../../../http/routing/router.ts";
import type { ServedRequest, ServedResponse } from "../../../http/server/http-types.ts";
import {
  authenticate,
  formatExpiredCookie,
  formatLoginCookie,
  readLoginSecret,
  refuseOtherPages,
} from "../portal-access.ts";
import type { PortalOptions } from "../portal-options.ts";
import { readRequiredString } from "../request-body.ts";
import { createLoginAttempts, type LoginAttempts } from "./login-attempts.ts";

/** Routes to exchange a key for a cookie, to end the login, and to read the caller. */
export function createLoginRoutes(options: PortalOptions): Route[] {
  const attempts = createLoginAttempts(options.clock);
  return [
    {
      method: "POST",
      path: "/api/login",
      handle: (request) => login(request, attempts, options),
    },
    {
      method: "POST",
      path: "/api/logout",
      async handle(request) {
        refuseOtherPages(request);
        readJsonBody(request);
        const secret = readLoginSecret(request);
        if (secret !== undefined) await options.logins.logout(secret);
        const headers = { "set-cookie": formatExpiredCookie(request) };
        return createJsonResponse(200, { loggedOut: true }, headers);
      },
    },
    {
      method: "GET",
      path: "/api/me",
      async handle(request) {
        const caller = await authenticate(request, options);
        const agents = options.sessions.agents.filter((agent) => canUseAgent(caller, agent));
        const { id, rights } = caller;
        return createJsonResponse(200, { principal: { id, rights }, agents });
      },
    },
  ];
}

async function login(
  request: ServedRequest,
  attempts: LoginAttempts,
  { logins }: PortalOptions,
): Promise<ServedResponse> {
  refuseOtherPages(request);
  const key = readRequiredString(readJsonBody(request), "key").trim();
  const { remoteAddress } = request;
  attempts.check(remoteAddress);
  const created = await logins.login(key);
  if (created === undefined) {
    attempts.countFailure(remoteAddress);
    throw new ApiError(401, "unauthorized", "The key is not a key of this bridge", {
      hint: "Use a key of serve.keys in the configuration, or the link printed by `spanline up`",
    });
  }
  const { caller, secret, durationMs } = created;
  request.onCaller?.(caller.id);
  const principal = { id: caller.id, rights: caller.rights };
  const headers = { "set-cookie": formatLoginCookie(request, secret, durationMs) };
  return createJsonResponse(200, { principal }, headers);
}
