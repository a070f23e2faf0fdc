import type { Right } from "../../domain/actor.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { TraceMode } from "../../domain/trace-mode.ts";
import { digestSecret } from "./bearer.ts";
import type { Caller } from "./caller.ts";
import { isLoopback } from "./loopback.ts";

/** A key as it is configured: itself, or only its digest. */
export interface AccessKey {
  /** Whose it is. One name may have several keys, so that one can be changed for another without a gap. */
  readonly name: string;
  readonly key?: string;
  /** In hexadecimal. */
  readonly sha256?: string;
  /** To prompt, when it is not said. */
  readonly rights?: readonly Right[];
  /** All, when it is not said. */
  readonly agents?: readonly string[];
  /** Default trace mode of its requests for responses. Absent: the server's setting. */
  readonly trace?: TraceMode;
}

/** A key as it is kept. */
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
      throw createInvalidKeysError(`${names} have the same key: nobody could tell them apart`);
    }
    owners.set(digest.toString("hex"), caller.id);
  }
  return knownKeys;
}

/** Throws where everybody on the network could prompt. */
export function checkKeylessHost(
  host: string,
  { hasKeys, isKeyless }: { readonly hasKeys: boolean; readonly isKeyless: boolean },
): void {
  if (isLoopback(host) || (hasKeys && !isKeyless)) return;
  const message = hasKeys
    ? `Others than programs of this machine reach ${host}, so that it cannot be used without a key`
    : `Others than programs of this machine reach ${host}: give keys under serve.keys of the configuration, such as { name: ada, key: { env: ADA_KEY } }, or listen on 127.0.0.1`;
  throw new SpanlineError("invalid_option", message, { details: { path: "host", host } });
}

function readKey(configured: AccessKey): KnownKey {
  const { name, rights = ["prompt"], agents, trace } = configured;
  if (!/^[A-Za-z0-9][\w.@-]{0,63}$/.test(name) || name === "local") {
    const expected = 'wanted 1 to 64 letters, digits and ".", "_", "@", "-", and not "local"';
    throw createInvalidKeysError(`A key has the name "${name}", ${expected}`);
  }
  return {
    digest: readKeyDigest(configured),
    caller: {
      id: name,
      rights,
      ...(agents !== undefined && { agents }),
      ...(trace !== undefined && { trace }),
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
