import type { Principal, Right } from "../../domain/actor.ts";
import type { Caller } from "../../http/access/caller.ts";
import type { RequestHead } from "../../http/server/http-types.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { readBearer, matchesSecret, digestSecret } from "../../http/access/bearer.ts";
import type { Logins } from "./login/logins.ts";
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
  /** The principal's id in the log, for callers without a key of their own. Default: `local`. */
  readonly principal?: string;
  readonly logins: Logins;
}

/** The parts of a request that identify its caller. */
type CallerHead = Pick<RequestHead, "headers" | "onCaller">;

const KEYLESS_RIGHTS: readonly Right[] = ["prompt"];
const TOKEN_RIGHTS: readonly Right[] = ["prompt", "approve", "control"];
const TOKEN_HINT =
  "Open the link printed by `spanline up`, or send its token or a key as `Authorization: Bearer …`";

/** Identifies the caller of a request. Throws 401 or 403 if the caller may not use this server. */
export async function authenticate(request: CallerHead, options: AccessOptions): Promise<Caller> {
  refuseOtherPages(request);
  const caller = await identifyCaller(request, options);
  request.onCaller?.(caller.id);
  return caller;
}

/** A key in the header, or the cookie of a login or of the link with the token. */
async function identifyCaller(request: CallerHead, options: AccessOptions): Promise<Caller> {
  const { token, keyless, logins, principal: id = "local" } = options;
  const bearer = readBearer(request);
  if (bearer !== undefined) {
    if (isToken(bearer, token)) return { id, rights: TOKEN_RIGHTS };
    const caller = logins.findKey(bearer);
    if (caller !== undefined) return caller;
    throw createUnknownCallerError("The bearer token is not the token or a key of this bridge");
  }
  const cookie = readCookie(request) ?? "";
  if (isToken(cookie, token)) return { id, rights: TOKEN_RIGHTS };
  // An old cookie is not an error: browsers keep cookies, and pages without rights can still be read.
  const caller = await findLoginCaller(request, logins);
  if (caller !== undefined) return caller;
  if (!keyless) throw createUnknownCallerError("This server requires its token or a key");
  return { id, rights: KEYLESS_RIGHTS };
}

async function findLoginCaller(request: CallerHead, logins: Logins): Promise<Caller | undefined> {
  const secret = readLoginSecret(request);
  return secret === undefined ? undefined : logins.findLogin(secret);
}

export function requireRight({ rights }: Principal, right: Right, what: string): void {
  if (rights.includes(right)) return;
  throw new ApiError(403, "access_denied", `${what} requires the right "${right}"`, {
    hint: TOKEN_HINT,
  });
}

/** For browsers without the header, and for upgrades. An origin of `allowedOrigins` may use `/v1`, but not `/api`. */
function guessSite(request: CallerHead): string {
  const origin = readHeader(request, "origin");
  if (origin === undefined) return "none";
  const host = readHeader(request, "host") ?? "";
  const isOwn = origin === `http://${host}` || origin === `https://${host}`;
  return isOwn ? "same-origin" : "cross-site";
}

export function isToken(receivedToken: string, token: string): boolean {
  return matchesSecret(receivedToken, digestSecret(token));
}

/**
 * `SameSite=Strict`: pages of other sites cannot make the browser send the cookie. `HttpOnly`: scripts cannot read it.
 */
export function formatTokenCookie(request: CallerHead, token: string): string {
  return `${createCookieName(request)}=${encodeURIComponent(token)}; Path=/; HttpOnly; SameSite=Strict`;
}

/**
 * The server has already checked Host and Origin. Requests for images and scripts have no Origin, and browsers treat
 * other ports of this machine as the same site, so the browser's `sec-fetch-site` header is checked too.
 */
export function refuseOtherPages(request: CallerHead): void {
  const site = readHeader(request, "sec-fetch-site") ?? guessSite(request);
  if (site === "same-origin" || site === "none") return;
  const message = `The request comes from a ${site} page, and only pages of this server may call it`;
  throw new ApiError(403, "access_denied", message);
}

/** The secret of the caller's login. Undefined without a login. */
export function readLoginSecret(request: CallerHead): string | undefined {
  const cookie = readCookie(request);
  return cookie?.startsWith(LOGIN_PREFIX) === true ? cookie.slice(LOGIN_PREFIX.length) : undefined;
}

/** A browser has a single cookie for a bridge: a login replaces the token of a link, and a link replaces a login. */
export function formatLoginCookie(request: CallerHead, secret: string, durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  const value = `${createCookieName(request)}=${LOGIN_PREFIX}${secret}`;
  return `${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
}

export function formatExpiredCookie(request: CallerHead): string {
  return `${createCookieName(request)}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`;
}

/** No token contains a full stop. */
const LOGIN_PREFIX = "login.";

function readCookie(request: CallerHead): string | undefined {
  const name = createCookieName(request);
  const pairs = (readHeader(request, "cookie") ?? "").split(/; */).map((pair) => pair.split("="));
  const value = pairs.find(([key]) => key === name)?.[1];
  return value === undefined ? undefined : decodePercent(value);
}

/** Cookies ignore ports, so two bridges on one machine need different cookie names. */
function createCookieName(request: CallerHead): string {
  const port = /:(\d+)$/.exec(readHeader(request, "host") ?? "")?.[1] ?? "80";
  return `spanline_${port}`;
}

function createUnknownCallerError(message: string): ApiError {
  const headers = { "www-authenticate": "Bearer" };
  return new ApiError(401, "unauthorized", message, { hint: TOKEN_HINT, headers });
}
