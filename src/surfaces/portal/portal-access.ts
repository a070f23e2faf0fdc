import type { Principal, Right } from "../../domain/actor.ts";
import type { ServedRequest } from "../../http/server/http-types.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { readBearer, matchesSecret, digestSecret } from "../../http/access/bearer.ts";
import { readHeader } from "../../http/routing/read-header.ts";
import { decodePercent } from "../../http/routing/decode-percent.ts";

export interface AccessOptions {
  /** The token of the link printed by `up`. A caller with the token has all rights. */
  readonly token: string;
  /**
   * Whether programs without the token may read and prompt. Only for a server on a loopback address, where every caller
   * is on this machine.
   */
  readonly keyless: boolean;
  /** The principal's id in the log. Default: `local`. */
  readonly principal?: string;
}

const KEYLESS_RIGHTS: readonly Right[] = ["prompt"];
const TOKEN_RIGHTS: readonly Right[] = ["prompt", "approve", "control"];
const TOKEN_HINT =
  "Open the link printed by `spanline up`, or send its token as `Authorization: Bearer …`";

/** Authenticates a caller and returns its rights. Throws 401 or 403 if the caller may not use this server. */
export function authenticate(request: ServedRequest, options: AccessOptions): Principal {
  refuseOtherPages(request);
  const principal = { id: options.principal ?? "local", rights: resolveRights(request, options) };
  request.onCaller?.(principal.id);
  return principal;
}

function resolveRights(request: ServedRequest, options: AccessOptions): readonly Right[] {
  const bearer = readBearer(request);
  if (bearer !== undefined && !isToken(bearer, options.token))
    throw createUnknownCallerError("The bearer token is not the token of this bridge");
  // A cookie with an old token is not an error: browsers keep cookies, and pages without rights can still be read.
  if (bearer !== undefined || isToken(readTokenCookie(request) ?? "", options.token)) {
    return TOKEN_RIGHTS;
  }
  if (!options.keyless) throw createUnknownCallerError("This server requires its token");
  return KEYLESS_RIGHTS;
}

export function requireRight({ rights }: Principal, right: Right, what: string): void {
  if (rights.includes(right)) return;
  throw new ApiError(403, "access_denied", `${what} requires the token of this bridge`, {
    hint: TOKEN_HINT,
  });
}

export function isToken(receivedToken: string, token: string): boolean {
  return matchesSecret(receivedToken, digestSecret(token));
}

/**
 * `SameSite=Strict`: pages of other sites cannot make the browser send the cookie. `HttpOnly`: scripts cannot read it.
 */
export function formatTokenCookie(request: ServedRequest, token: string): string {
  return `${createCookieName(request)}=${encodeURIComponent(token)}; Path=/; HttpOnly; SameSite=Strict`;
}

/**
 * The server has already checked Host and Origin. Requests for images and scripts have no Origin, and browsers treat
 * other ports of this machine as the same site, so the browser's `sec-fetch-site` header is checked too.
 */
function refuseOtherPages(request: ServedRequest): void {
  const site = readHeader(request, "sec-fetch-site");
  if (site === undefined || site === "same-origin" || site === "none") return;
  const message = `The request comes from a ${site} page, and only pages of this server may call it`;
  throw new ApiError(403, "access_denied", message);
}

function readTokenCookie(request: ServedRequest): string | undefined {
  const name = createCookieName(request);
  const pairs = (readHeader(request, "cookie") ?? "").split(/; */).map((pair) => pair.split("="));
  const value = pairs.find(([key]) => key === name)?.[1];
  return value === undefined ? undefined : decodePercent(value);
}

/** Cookies ignore ports, so two bridges on one machine need different cookie names. */
function createCookieName(request: ServedRequest): string {
  const port = /:(\d+)$/.exec(readHeader(request, "host") ?? "")?.[1] ?? "80";
  return `spanline_${port}`;
}

function createUnknownCallerError(message: string): ApiError {
  const headers = { "www-authenticate": "Bearer" };
  return new ApiError(401, "unauthorized", message, { hint: TOKEN_HINT, headers });
}
