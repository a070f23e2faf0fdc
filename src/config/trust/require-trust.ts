import { SpanlineError } from "../../domain/errors.ts";
import type { Config } from "../read-config.ts";
import { computeConfigVersion } from "./trusted-configs.ts";
import type { ConfigFingerprint } from "../selected-config.ts";

/** Returns true if the user trusts this version of a configuration and its code. Called only if trust is required. */
export type IsTrusted = (digest: string) => Promise<boolean>;

/**
 * Throws `access_denied` if a reason requires trust and this version is not trusted. Without a reason, no trust is
 * needed.
 */
export async function requireTrust(
  reasons: readonly (string | undefined)[],
  { read, mark, isTrusted }: TrustedConfig,
): Promise<void> {
  const reason = reasons.find((candidate) => candidate !== undefined);
  if (reason === undefined) return;
  const { digest } = await computeConfigVersion(read, mark);
  if (await isTrusted(digest)) return;
  const message = `The configuration ${reason}, but this version is not trusted. Fix: read the configuration and its files, then run \`spanline trust\`, or name the configuration with --config`;
  throw new SpanlineError("access_denied", message, { details: { path: "config" } });
}

interface TrustedConfig {
  readonly read: Config;
  readonly mark: ConfigFingerprint;
  readonly isTrusted: IsTrusted;
}
