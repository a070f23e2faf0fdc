import type { Principal, Right } from "../../domain/actor.ts";
import type { ServedRequest } from "../../http/server/http-types.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { readBearer, matchesSecret, digestSecret } from "../../http/access/bearer.ts";
import { readHeader } from "../../http/routing/read-header.ts";
import { decodePercent } from "../../http/routing/decode-percent.ts";

export interface AccessOptions {
  /** As the link has it that `up` prints. Whoever has it may do everything. */
  readonly token: string;
  /**
   * Whether programs without the token may read and prompt. For a server on a loopback address only: there whoever
   * reaches it is on this machine.
   */
  readonly keyless: boolean;
  /** Whose name goes into the log. */
  readonly principal?: string;
}

const KEYLESS_RIGHTS: readonly Right[] = ["prompt"];
const TOKEN_RIGHTS: readonly Right[] = ["prompt", "approve", "control"];
const TOKEN_HINT =
  "Open the link that `spanline up` printed, or send its token as `Authorization: Bearer …`";

/** Who calls, and what they may do. Throws when they may not call at all. */
export function principalOf(request: ServedRequest, options: AccessOptions): Principal {
  refuseOtherPages(request);
  const principal = { id: options.principal ?? "local", rights: rightsOf(request, options) };
  request.onCaller?.(principal.id);
  return principal;
}

function rightsOf(request: ServedRequest, options: AccessOptions): readonly Right[] {
  const bearer = readBearer(request);
  if (bearer !== undefined && !isToken(bearer, options.token))
    throw unknownCaller("The bearer token is not the one of this bridge");
  // A cookie with an earlier token is no offence: browsers keep it, and its page can still be read.
  if (bearer !== undefined || isToken(cookieOf(request) ?? "", options.token)) {
    return TOKEN_RIGHTS;
  }
  if (!options.keyless) throw unknownCaller("This server answers to those who have its token only");
  return KEYLESS_RIGHTS;
}

export function requireRight({ rights }: Principal, right: Right, what: string): void {
  if (rights.includes(right)) return;
  throw new ApiError(403, "access_denied", `${what} needs the token of this bridge`, {
    hint: TOKEN_HINT,
  });
}

export function isToken(given: string, token: string): boolean {
  return matchesSecret(given, digestSecret(token));
}

/** Strict: no page of another site can have the browser send it. Scripts do not see it. */
export function tokenCookie(request: ServedRequest, token: string): string {
  return `${cookieName(request)}=${encodeURIComponent(token)}; Path=/; HttpOnly; SameSite=Strict`;
}

/**
 * The server checked Host and Origin. Requests for images and scripts have no Origin, and pages of other ports of this
 * machine are the same site to a browser, so what it says of the page that asks is checked too.
 */
function refuseOtherPages(request: ServedRequest): void {
  const site = readHeader(request, "sec-fetch-site");
  if (site === undefined || site === "same-origin" || site === "none") return;
  const message = `The request comes from a ${site} page, and only pages of this server may call it`;
  throw new ApiError(403, "access_denied", message);
}

function cookieOf(request: ServedRequest): string | undefined {
  const name = cookieName(request);
  const pairs = (readHeader(request, "cookie") ?? "").split(/; */).map((pair) => pair.split("="));
  const value = pairs.find(([key]) => key === name)?.[1];
  return value === undefined ? undefined : decodePercent(value);
}

/** Cookies do not know ports, so that two bridges on one machine need two names. */
function cookieName(request: ServedRequest): string {
  const port = /:(\d+)$/.exec(readHeader(request, "host") ?? "")?.[1] ?? "80";
  return `spanline_${port}`;
}

function unknownCaller(message: string): ApiError {
  const headers = { "www-authenticate": "Bearer" };
  return new ApiError(401, "unauthorized", message, { hint: TOKEN_HINT, headers });
}
