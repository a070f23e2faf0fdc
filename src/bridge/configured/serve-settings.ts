import { dirname } from "node:path";
import { readKeys, type AccessKey } from "../../http/access/access-keys.ts";
import type { Environment } from "../../platform/environment.ts";
import { requireTrust, type IsTrusted } from "../../config/trust/require-trust.ts";
import { findServeTrustReason } from "../../config/trust/trust-reasons.ts";
import { addFileToError, withErrorPath } from "../../config/error-path.ts";
import { throwProblem } from "../../data/schema-error.ts";
import type { Webhook } from "../../surfaces/webhooks/webhook-delivery.ts";
import { readConfig } from "../../config/read-config.ts";
import { parseConfigText } from "../../config/read-document.ts";
import { readConfigFile } from "../../config/read-config-file.ts";
import type { AcpConfig } from "../../config/read-config.ts";
import type { KeyConfig, ServeConfig } from "../../config/read-serve.ts";
import { fingerprintConfig } from "../../config/selected-config.ts";
import {
  resolveVariable,
  type ReferenceContext,
  type Variable,
} from "../../config/variables/variables.ts";

/** The `serve` section of a configuration, with its keys resolved. */
export interface ServeSettings extends Omit<ServeConfig, "keys" | "webhooks">, AcpConfig {
  readonly keys: readonly AccessKey[];
  readonly webhooks: readonly Webhook[];
}

export interface ServeSettingsOptions {
  /** The configuration file. */
  readonly file: string;
  readonly environment: Environment;
  readonly isTrusted: IsTrusted;
}

export async function readServeSettings(options: ServeSettingsOptions): Promise<ServeSettings> {
  const { file, environment, isTrusted } = options;
  const text = await readConfigFile(file);
  const document = parseConfigText(text, file);
  try {
    const parsed = readConfig(document);
    const { serve } = parsed;
    const mark = { ...(await fingerprintConfig(file, text)), file };
    // Another process may run the agents, but this process authenticates the clients.
    await requireTrust([findServeTrustReason(serve)], { read: parsed, mark, isTrusted });
    const context = { environment, folder: dirname(file) };
    const keys: AccessKey[] = [];
    for (const keyConfig of serve.keys) {
      keys.push(await resolveKey(keyConfig, context));
    }
    withErrorPath("serve", () => readKeys(keys));
    const webhooks: Webhook[] = [];
    for (const { secret, ...webhook } of serve.webhooks) {
      webhooks.push({ ...webhook, secret: await resolveSecret(secret, context) });
    }
    return { ...serve, ...parsed.acp, keys, webhooks };
  } catch (error) {
    throw addFileToError(error, file);
  }
}

async function resolveSecret(secret: Variable, context: ReferenceContext): Promise<string> {
  const { value } = await resolveVariable(secret, context);
  if (value.length >= MIN_SECRET_LENGTH) return value;
  return throwProblem(
    secret.path,
    `is not a valid secret: expected at least ${MIN_SECRET_LENGTH} characters`,
  );
}

const MIN_SECRET_LENGTH = 16;

async function resolveKey(
  { key, ...rest }: KeyConfig,
  context: ReferenceContext,
): Promise<AccessKey> {
  if (key === undefined) return rest;
  return { ...rest, key: (await resolveVariable(key, context)).value };
}
