import { timingSafeEqual } from "node:crypto";
import { ApiError } from "../routing/api-error.ts";
import { readBearer, digestSecret } from "./bearer.ts";
import type { Caller } from "./caller.ts";
import { readHeader } from "../routing/read-header.ts";
import { checkKeylessHost, readKeys, type AccessKey, type KnownKey } from "./access-keys.ts";
import type { RequestHead } from "../server/http-types.ts";

export interface AccessOptions {
  /** Where the server listens: beyond this machine it answers to keys only. */
  readonly host: string;
  readonly keys?: readonly AccessKey[];
  /** Whether programs of this machine may prompt without a key. When it is not said: as long as there are no keys. */
  readonly keyless?: boolean;
  /** Whether a key that is sent has to be known also where none is needed: clients of OpenAI cannot be told to send none. */
  readonly knownKeysOnly?: boolean;
  /** Of this run, or of the data directory. Whoever has it may do everything as this machine's user. */
  readonly token?: string;
}

export interface Access {
  /** Throws when they may not call at all. */
  authenticate(request: Pick<RequestHead, "headers" | "onCaller">): Caller;
}

/** No key has this name. */
const LOCAL_PRINCIPAL = "local";

/** Whether it is this machine's user, who came with the token. Without it nobody knows whose program it is. */
export function isLocalUser({ id, rights }: Caller): boolean {
  return id === LOCAL_PRINCIPAL && rights.includes("control");
}

/** Whether it is a program of this machine without the token: it has the user's sessions, and may be anybody's. */
export function isKeylessCaller({ id, rights }: Caller): boolean {
  return id === LOCAL_PRINCIPAL && !rights.includes("control");
}

/** Who calls, by their key. Throws when nobody could be told from anybody else. */
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
    throw createUnauthorizedError("There is no key in the request");
  };
  return {
    authenticate(request) {
      const caller = identifyCaller(request);
      request.onCaller?.(caller.id);
      return caller;
    },
  };
}

/** Every key is looked at, also behind the right one: how long it takes says nothing. */
function findCaller(bearer: string, keys: readonly KnownKey[]): Caller | undefined {
  const bearerDigest = digestSecret(bearer);
  let matchingCaller: Caller | undefined;
  for (const { digest, caller } of keys) {
    if (timingSafeEqual(bearerDigest, digest)) matchingCaller = caller;
  }
  return matchingCaller;
}

function createTokenKey(token: string): KnownKey {
  const rights = ["prompt", "approve", "control"] as const;
  return { digest: digestSecret(token), caller: { id: LOCAL_PRINCIPAL, rights } };
}

/**
 * The server checked Host and Origin. Requests for images and scripts have no Origin, so what a browser says of the page
 * that asks for them is checked too.
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
