import { isObject, type JsonValue } from "../../../data/json.ts";
import { digestText } from "../../../platform/digest.ts";
import type { Clock } from "../../../platform/clock.ts";
import { randomString } from "../../../platform/random.ts";
import type { Caller } from "../../../http/access/caller.ts";
import type { KnownKey } from "../../../http/access/access-keys.ts";
import type { Sessions } from "../../../session/sessions.ts";

/** The keys of people and programs, and the logins of people: a login stands for a key, in a browser. */
export interface Logins {
  /** The caller with this key. Undefined for an unknown key. */
  findKey(key: string): Caller | undefined;
  /** Creates a login for a known key. Resolves with its secret; undefined for an unknown key. */
  login(key: string): Promise<Login | undefined>;
  /** Undefined if the login does not exist, has expired, or its key is no longer configured. */
  findLogin(secret: string): Promise<Caller | undefined>;
  logout(secret: string): Promise<void>;
  /** Calls `onEnded` if the login ends by a logout in this process. Returns a function that stops the watch. */
  watchLogout(secret: string, onEnded: () => void): () => void;
}

export interface Login {
  /** The value of the cookie. */
  readonly secret: string;
  readonly caller: Caller;
  /** Milliseconds. */
  readonly durationMs: number;
}

export interface LoginsOptions {
  readonly records: Pick<Sessions, "readRecord" | "putRecord" | "deleteRecord">;
  readonly clock: Clock;
  /** The configured keys, and the token. */
  readonly keys: readonly KnownKey[];
}

const SCOPE = "portal-login";
const LOGIN_MS = 14 * 86_400_000;
/** 32 characters have 192 bits. */
const SECRET_LENGTH = 32;

/**
 * A login is a record under the digest of its secret, and holds the digest of its key. Neither a secret nor a key is
 * stored.
 */
export function createLogins({ records, clock, keys }: LoginsOptions): Logins {
  const callers = new Map(keys.map(({ digest, caller }) => [digest.toString("hex"), caller]));
  const watchers = new Map<string, Set<() => void>>();
  return {
    // The duration of a lookup by digest does not depend on the key.
    findKey: (key) => callers.get(digestText(key)),
    async login(key) {
      const keyDigest = digestText(key);
      const caller = callers.get(keyDigest);
      if (caller === undefined) return undefined;
      const secret = randomString(SECRET_LENGTH);
      const now = clock.now();
      const value = { keyDigest, principal: caller.id, createdAt: now };
      await records.putRecord(SCOPE, digestText(secret), { value, expiresAt: now + LOGIN_MS });
      return { secret, caller, durationMs: LOGIN_MS };
    },
    async findLogin(secret) {
      const record = await records.readRecord(SCOPE, digestText(secret));
      const keyDigest = record && readKeyDigest(record.value);
      return keyDigest === undefined ? undefined : callers.get(keyDigest);
    },
    async logout(secret) {
      const digest = digestText(secret);
      await records.deleteRecord(SCOPE, digest);
      for (const onEnded of watchers.get(digest) ?? []) onEnded();
    },
    watchLogout(secret, onEnded) {
      const digest = digestText(secret);
      const watching = watchers.get(digest) ?? new Set();
      watchers.set(digest, watching.add(onEnded));
      return () => {
        watching.delete(onEnded);
        if (watching.size === 0 && watchers.get(digest) === watching) watchers.delete(digest);
      };
    },
  };
}

function readKeyDigest(value: JsonValue): string | undefined {
  const digest = isObject(value) ? value["keyDigest"] : undefined;
  return typeof digest === "string" ? digest : undefined;
}
