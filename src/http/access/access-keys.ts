import type { Right } from "../../domain/actor.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { TraceMode } from "../../domain/responses-settings.ts";
import { digestSecret } from "./bearer.ts";
import type { Caller } from "./caller.ts";
import { isLoopback } from "./loopback.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** A configured key: the key itself, or only its SHA-256 digest. */
export interface AccessKey {
  /** The principal. A name may have several keys, so that keys can be rotated without a gap. */
  readonly name: string;
  readonly key?: string;
  /** Hexadecimal. */
  readonly sha256?: string;
  /** Default: `["prompt"]`. */
  readonly rights?: readonly Right[];
  /** Default: all agents. */
  readonly agents?: readonly string[];
  /** Default trace mode of its requests for responses. Absent: the server's setting. */
  readonly trace?: TraceMode;
}

/** A key as stored in memory: only its digest. */
export interface KnownKey {
  readonly digest: Buffer;
  readonly caller: Caller;
}

const MIN_KEY_LENGTH = 16;

export function readKeys(keys: readonly AccessKey[]): KnownKey[] {
  const knownKeys = keys.map(readKey);
  const owners = new Map<string, string>();
  for (const { digest, caller } of knownKeys) {
    const other = owners.get(digest.toString("hex"));
    if (other !== undefined) {
      const names = `"${other}" and "${caller.id}"`;
      throw createInvalidKeysError(
        `${names} have the same key: callers are identified by their key. Fix: use a different key for each name`,
      );
    }
    owners.set(digest.toString("hex"), caller.id);
  }
  return knownKeys;
}

/** Throws if the server would accept requests from other machines without a key. */
export function checkKeylessHost(
  host: string,
  { hasKeys, isKeyless }: { readonly hasKeys: boolean; readonly isKeyless: boolean },
): void {
  if (isLoopback(host) || (hasKeys && !isKeyless)) return;
  const message = hasKeys
    ? `Other machines can reach ${host}, so requests without a key cannot be allowed`
    : `Other machines can reach ${host}, and no keys are configured. Fix: set serve.keys in the configuration, such as { name: ada, key: { env: ADA_KEY } }, or listen on 127.0.0.1`;
  throw new SpanlineError("invalid_option", message, { details: { path: "host", host } });
}

function readKey(configured: AccessKey): KnownKey {
  const { name, rights = ["prompt"], agents, trace } = configured;
  if (!/^[A-Za-z0-9][\w.@-]{0,63}$/.test(name) || name === "local") {
    const expected = 'expected 1 to 64 letters, digits and ".", "_", "@", "-", and not "local"';
    throw createInvalidKeysError(`A key has the name "${name}", ${expected}`);
  }
  return {
    digest: readKeyDigest(configured),
    caller: {
      id: name,
      rights,
      ...omitUndefined({ agents, trace }),
    },
  };
}

function readKeyDigest({ name, key, sha256 }: AccessKey): Buffer {
  if ((key === undefined) === (sha256 === undefined)) {
    throw createInvalidKeysError(`The key of "${name}" needs either "key" or "sha256"`);
  }
  if (sha256 !== undefined) {
    if (/^[0-9a-f]{64}$/i.test(sha256)) return Buffer.from(sha256, "hex");
    throw createInvalidKeysError(`The "sha256" of "${name}" is not 64 hexadecimal digits`);
  }
  if (key !== undefined && /^[!-~]+$/.test(key) && key.length >= MIN_KEY_LENGTH) {
    return digestSecret(key);
  }
  const expected = `${MIN_KEY_LENGTH} visible ASCII characters`;
  throw createInvalidKeysError(`The key of "${name}" is not at least ${expected}`);
}

function createInvalidKeysError(message: string): SpanlineError {
  return new SpanlineError("invalid_option", message, { details: { path: "keys" } });
}
