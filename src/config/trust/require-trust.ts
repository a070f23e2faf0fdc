import { SpanlineError } from "../../domain/errors.ts";
import type { Config } from "../read-config.ts";
import { computeConfigVersion } from "./trusted-configs.ts";
import type { ConfigFingerprint } from "../selected-config.ts";

/** Whether a configuration and the code that it names, of which both are this digest, are trusted; asked only where that matters. */
export type IsTrusted = (digest: string) => Promise<boolean>;

/** Refuses a configuration that nobody trusts, for the first of these reasons; without one it needs nobody's trust. */
export async function requireTrust(
  reasons: readonly (string | undefined)[],
  { read, mark, isTrusted }: TrustedConfig,
): Promise<void> {
  const reason = reasons.find((candidate) => candidate !== undefined);
  if (reason === undefined) return;
  const { digest } = await computeConfigVersion(read, mark);
  if (await isTrusted(digest)) return;
  const message = `It ${reason}, and nobody trusts this version of it. Look at it, and at what it names; then \`spanline trust\` lets it, or --config names it`;
  throw new SpanlineError("access_denied", message, { details: { path: "config" } });
}

interface TrustedConfig {
  readonly read: Config;
  readonly mark: ConfigFingerprint;
  readonly isTrusted: IsTrusted;
}
