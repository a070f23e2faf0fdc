import { SpanlineError, formatThrown } from "../domain/errors.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Present for temporary credentials. */
  readonly sessionToken?: string;
  /** When temporary credentials expire, in milliseconds since 1970. Absent if they do not expire. */
  readonly expiresAt?: number;
}

export type CredentialSource = () => Promise<Credentials>;

export interface ChainOptions {
  /** A profile of the shared AWS files. Default: `AWS_PROFILE`, then `default`. */
  readonly profile?: string;
}

/**
 * The standard AWS chain: environment, shared files with SSO and assumed roles, web identity, containers, instances.
 * Loaded by the first request, because loading takes longer than the rest of a short command.
 */
export function createCredentialChain(options: ChainOptions = {}): CredentialSource {
  let chain: ReturnType<typeof loadChain> | undefined;
  return async () => {
    try {
      chain ??= loadChain(options);
      const { accessKeyId, secretAccessKey, sessionToken, expiration } = await (await chain)();
      return {
        accessKeyId,
        secretAccessKey,
        ...omitUndefined({ sessionToken }),
        ...(expiration !== undefined && { expiresAt: expiration.getTime() }),
      };
    } catch (cause) {
      const message =
        `AWS credentials were not found: ${formatThrown(cause).replace(/\.?$/, ".")} ` +
        "Fix: set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or sign in with `aws sso login`";
      throw new SpanlineError("no_credentials", message, { cause });
    }
  };
}

/** The chain refreshes its own credentials before they expire. */
async function loadChain({ profile }: ChainOptions) {
  const { defaultProvider } = await import("@aws-sdk/credential-provider-node");
  return defaultProvider(profile === undefined ? {} : { profile });
}

export interface TimeSource {
  now(): number;
}

/** Caches credentials until shortly before they expire. Concurrent callers share a single refresh. */
export function cacheCredentials(source: CredentialSource, clock: TimeSource): CredentialSource {
  let cached: Credentials | undefined;
  let pending: Promise<Credentials> | undefined;

  async function refresh(): Promise<Credentials> {
    try {
      cached = await source();
      return cached;
    } finally {
      pending = undefined;
    }
  }

  return async () => {
    const remaining = (cached?.expiresAt ?? Infinity) - clock.now();
    if (cached !== undefined && remaining > EXPIRY_MARGIN) return cached;
    pending ??= refresh();
    return pending;
  };
}

/**
 * Milliseconds before the expiry at which credentials are refreshed. A long turn needs no later refresh, because its
 * request is signed once, at the start.
 */
const EXPIRY_MARGIN = 5 * 60 * 1000;
