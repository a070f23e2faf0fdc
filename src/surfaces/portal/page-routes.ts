import type { ServedResponse, ServedRequest } from "../../http/server/http-types.ts";
import { isToken, tokenCookie } from "./portal-access.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { SECURITY_HEADERS } from "../../http/routing/json-response.ts";
import { LIST_PAGE } from "./list-page.ts";
import { page } from "./page.ts";
import type { Route } from "../../http/routing/router.ts";
import { SESSION_PAGE } from "./session-page.ts";

/** The pages. They hold nothing of any session, so anybody may have them; what they show they ask for. */
export function pageRoutes({ token }: { readonly token: string }): Route[] {
  const list = page(LIST_PAGE);
  const session = page(SESSION_PAGE);
  const served =
    (answer: ServedResponse): Route["handle"] =>
    async (request) =>
      signedIn(request, token) ?? answer;
  return (["GET", "HEAD"] as const).flatMap((method) => [
    { method, path: "/", handle: served(list) },
    { method, path: "/sessions/:id", handle: served(session) },
  ]);
}

/** A link with the token becomes a cookie, and the token leaves the address bar and the history. */
function signedIn(request: ServedRequest, token: string): ServedResponse | undefined {
  const query = new URLSearchParams(request.query);
  const given = query.get("token");
  if (given === null) return undefined;
  if (!isToken(given, token)) {
    throw new ApiError(
      403,
      "access_denied",
      "The token in this link is not the one of this bridge",
      {
        hint: "Open the link that `spanline up` printed last",
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
      "set-cookie": tokenCookie(request, token),
    },
    body: new Uint8Array(),
  };
}
