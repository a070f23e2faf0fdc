import { SpanlineError } from "../../../domain/errors.ts";
import { isSecretName } from "../../../text/is-secret-name.ts";
import { createSecretRedactor, type RedactSecrets } from "../../../data/secret-redactor.ts";
import type { Environment } from "../../../platform/environment.ts";
import type { McpServerSettings } from "../mcp-server-settings.ts";

/** Removes configured secrets from a server's output, which may quote them. */
export interface OutputSanitizer {
  /** For the server's own text, before it is cut. */
  readonly scrub: RedactSecrets;
  /** For failures: removes every configured value, secret or not. */
  readonly scrubFailure: (failure: SpanlineError) => SpanlineError;
}

export interface SanitizerOptions {
  readonly environment: Environment;
  /** Known secrets, in addition to values recognized as secrets by their names. */
  readonly secrets?: readonly string[];
}

export function createOutputSanitizer(
  settings: McpServerSettings,
  { environment, secrets = [] }: SanitizerOptions,
): OutputSanitizer {
  const entries = listProvidedValues(settings, environment);
  const confidential = entries
    .filter(isConfidential)
    .flatMap(([, value]) => listSecretParts(value));
  const all = entries.flatMap(([, value]) => listSecretParts(value));
  const scrubAll = createSecretRedactor([...secrets.flatMap(listSecretParts), ...all]);
  return {
    scrub: createSecretRedactor([...secrets.flatMap(listSecretParts), ...confidential]),
    scrubFailure: ({ code, message, details }) =>
      new SpanlineError(code, scrubAll(message), { details: scrubAll(details) }),
  };
}

type NamedValue = readonly [name: string, value: string];

function listProvidedValues(
  settings: McpServerSettings,
  environment: Environment,
): readonly NamedValue[] {
  if (settings.type !== "stdio") {
    return [...Object.entries(settings.headers ?? {}), ...new URL(settings.url).searchParams];
  }
  const { env = {}, inheritEnv = [] } = settings;
  return [
    ...inheritEnv.map((name): NamedValue => [name, environment[name] ?? ""]),
    ...Object.entries(env),
  ];
}

/** Other values, such as folders, are kept: results commonly contain them. */
function isConfidential([name, value]: NamedValue): boolean {
  return isSecretName(name) || findPassword(value) !== undefined;
}

/** For `Bearer abc` the second word is also a secret, and for a URL its password. */
function listSecretParts(value: string): readonly string[] {
  const [, word = ""] = /^(?:Bearer|Basic|Token)\s+(\S+)$/i.exec(value) ?? [];
  return [value, word, findPassword(value) ?? ""];
}

function findPassword(value: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]*:([^/?#@\s]+)@/i.exec(value)?.[1];
}
