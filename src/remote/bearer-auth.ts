import { SpanlineError } from "../domain/errors.ts";
import type { HttpRequest } from "../platform/http-client.ts";

/** Adds a bearer token to every request. */
export function createBearerAuth(
  readToken: () => Promise<string>,
): (request: HttpRequest) => Promise<HttpRequest> {
  return async (request) => {
    const bearerToken = await readToken();
    if (!/^[\x21-\x7e]+$/.test(bearerToken)) {
      const message =
        "The bearer token is not valid: expected at least one printable ASCII character and no spaces";
      throw new SpanlineError("no_credentials", message);
    }
    return { ...request, headers: { ...request.headers, authorization: `Bearer ${bearerToken}` } };
  };
}
