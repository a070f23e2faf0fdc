import type { ServedResponse, ServedRequest } from "../../http/server/http-types.ts";
import { isToken, formatTokenCookie } from "./portal-access.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { SECURITY_HEADERS } from "../../http/routing/json-response.ts";
import { LIST_PAGE } from "./list-page.ts";
import { renderPage } from "./page.ts";
import type { Route } from "../../http/routing/router.ts";
import { SESSION_PAGE } from "./session-page.ts";

/** The pages. A page contains no session data and needs no token; its script requests the data. */
export function createPageRoutes({ token }: { readonly token: string }): Route[] {
  const list = renderPage(LIST_PAGE);
  const session = renderPage(SESSION_PAGE);
  const served =
    (answer: ServedResponse): Route["handle"] =>
    async (request) =>
      signIn(request, token) ?? answer;
  return (["GET", "HEAD"] as const).flatMap((method) => [
    { method, path: "/", handle: served(list) },
    { method, path: "/sessions/:id", handle: served(session) },
  ]);
}

/**
 * Exchanges the token in a link for a cookie and redirects, so the token does not stay in the address bar and the
 * history.
 */
function signIn(request: ServedRequest, token: string): ServedResponse | undefined {
  const query = new URLSearchParams(request.query);
  const receivedToken = query.get("token");
  if (receivedToken === null) return undefined;
  if (!isToken(receivedToken, token)) {
    throw new ApiError(
      403,
      "access_denied",
      "The token in this link is not the token of this bridge",
      {
        hint: "Open the last link printed by `spanline up`",
      },
    );
  }
  query.delete("token");
  const rest = query.size === 0 ? "" : `?${query.toString()}`;
  return {
    status: 303,
    headers: {
      ...SECURITY_HEADERS,
      location: `${request.path}${rest}`,
      "set-cookie": formatTokenCookie(request, token),
    },
    body: new Uint8Array(),
  };
}
