import { timingSafeEqual } from "node:crypto";
import { ApiError } from "../routing/api-error.ts";
import { readBearer, digestSecret } from "./bearer.ts";
import type { Caller } from "./caller.ts";
import { readHeader } from "../routing/read-header.ts";
import { checkKeylessHost, readKeys, type AccessKey, type KnownKey } from "./access-keys.ts";
import type { RequestHead } from "../server/http-types.ts";

export interface AccessOptions {
  /** The address the server listens on. A host reachable from other machines requires keys. */
  readonly host: string;
  readonly keys?: readonly AccessKey[];
  /** Whether programs of this machine may prompt without a key. Default: true if no keys are configured. */
  readonly keyless?: boolean;
  /**
   * Whether a sent key must be known even if no key is required. Default: false, since OpenAI's clients cannot be
   * configured to send no key.
   */
  readonly knownKeysOnly?: boolean;
  /** The token of this run or of the data directory. Its holder has all rights, as this machine's user. */
  readonly token?: string;
}

export interface Access {
  /** Identifies the caller. Throws an `ApiError` with 401 or 403 if the request is not allowed. */
  authenticate(request: Pick<RequestHead, "headers" | "onCaller">): Caller;
}

/** Reserved: no key may have this name. */
const LOCAL_PRINCIPAL = "local";

/**
 * Whether the caller is this machine's user, identified by the token. Without the token the user behind a local program
 * is unknown.
 */
export function isLocalUser({ id, rights }: Caller): boolean {
  return id === LOCAL_PRINCIPAL && rights.includes("control");
}

/**
 * Whether the caller is a local program without the token. Such a program shares the local principal's sessions, and
 * may belong to any user of this machine.
 */
export function isKeylessCaller({ id, rights }: Caller): boolean {
  return id === LOCAL_PRINCIPAL && !rights.includes("control");
}

/** Identifies callers by key. Throws if the keys are invalid, or if other machines could call without a key. */
export function createAccess(options: AccessOptions): Access {
  const keys = readKeys(options.keys ?? []);
  const isKeyless = options.keyless ?? keys.length === 0;
  checkKeylessHost(options.host, { hasKeys: keys.length > 0, isKeyless });
  const token = options.token === undefined ? [] : [createTokenKey(options.token)];
  const acceptedKeys = [...keys, ...token];
  const acceptsAnyKey = isKeyless && keys.length === 0 && options.knownKeysOnly !== true;
  const identifyCaller = (request: Pick<RequestHead, "headers">): Caller => {
    checkFetchSite(request);
    const bearer = readBearer(request);
    if (bearer !== undefined) {
      const caller = findCaller(bearer, acceptedKeys);
      if (caller !== undefined) return caller;
      if (!acceptsAnyKey) throw createUnauthorizedError("The key is not known here");
    }
    if (isKeyless) return { id: LOCAL_PRINCIPAL, rights: ["prompt"] };
    throw createUnauthorizedError("The request has no key");
  };
  return {
    authenticate(request) {
      const caller = identifyCaller(request);
      request.onCaller?.(caller.id);
      return caller;
    },
  };
}

/** Compares every key, even after a match, so that the duration reveals nothing. */
function findCaller(bearer: string, keys: readonly KnownKey[]): Caller | undefined {
  const bearerDigest = digestSecret(bearer);
  let matchingCaller: Caller | undefined;
  for (const { digest, caller } of keys) {
    if (timingSafeEqual(bearerDigest, digest)) matchingCaller = caller;
  }
  return matchingCaller;
}

/** The token as a key: its holder has all rights, as this machine's user. */
export function createTokenKey(token: string): KnownKey {
  const rights = ["prompt", "approve", "control"] as const;
  return { digest: digestSecret(token), caller: { id: LOCAL_PRINCIPAL, rights } };
}

/**
 * The server has already checked `Host` and `Origin`. Browsers send no `Origin` with requests for images and scripts,
 * so `Sec-Fetch-Site` is checked too.
 */
function checkFetchSite(request: Pick<RequestHead, "headers">): void {
  const site = readHeader(request, "sec-fetch-site") ?? "none";
  if (site === "same-origin" || site === "none") return;
  if (readHeader(request, "origin") !== undefined) return;
  const message = `The request comes from a ${site} page, which may not call this server`;
  throw new ApiError(403, "access_denied", message);
}

function createUnauthorizedError(message: string): ApiError {
  return new ApiError(401, "unauthorized", message, {
    reason: "invalid_api_key",
    hint: "Send a key of this server as `Authorization: Bearer …`",
    headers: { "www-authenticate": 'Bearer realm="spanline"' },
  });
}
