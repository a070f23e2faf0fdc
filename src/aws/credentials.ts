import { SpanlineError, formatThrown } from "../domain/errors.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string;
  /** When temporary credentials end, in milliseconds since 1970. */
  readonly expiresAt?: number;
}

export type CredentialSource = () => Promise<Credentials>;

export interface ChainOptions {
  /** A profile of the shared AWS files; else `AWS_PROFILE`, else `default`. */
  readonly profile?: string;
}

/**
 * The standard AWS chain: environment, shared files with SSO and assumed roles, web identity, containers, instances. It is
 * loaded at the first call, since it takes longer to load than all the rest of a command.
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
        `No AWS credentials: ${formatThrown(cause).replace(/\.?$/, ".")} ` +
        "Set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or sign in with `aws sso login`";
      throw new SpanlineError("no_credentials", message, { cause });
    }
  };
}

/** What the chain itself reads, it reads again when it is about to expire. */
async function loadChain({ profile }: ChainOptions) {
  const { defaultProvider } = await import("@aws-sdk/credential-provider-node");
  return defaultProvider(profile === undefined ? {} : { profile });
}

export interface TimeSource {
  now(): number;
}

/** Asks a source again only when what it gave is about to expire, and once for all who wait. */
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

/** A turn may be long, but it is signed once, at its start. */
const EXPIRY_MARGIN = 5 * 60 * 1000;
