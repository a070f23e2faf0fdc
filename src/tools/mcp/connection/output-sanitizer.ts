import { SpanlineError } from "../../../domain/errors.ts";
import { isSecretName } from "../../../text/is-secret-name.ts";
import { createSecretRedactor, type RedactSecrets } from "../../../data/secret-redactor.ts";
import type { Environment } from "../../../platform/environment.ts";
import type { McpServerSettings } from "../mcp-server-settings.ts";

/** Takes out of what a server says what it was given and nobody else should see: it may quote it. */
export interface OutputSanitizer {
  /** For what it says itself, before it is cut. */
  readonly scrub: RedactSecrets;
  /** For why it failed. Here nothing that it was given has a place, secret or not. */
  readonly scrubFailure: (failure: SpanlineError) => SpanlineError;
}

export interface SanitizerOptions {
  readonly environment: Environment;
  /** What is known to be secret, beside what is called so. */
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

/** Folders and the like stay: results are full of them. */
function isConfidential([name, value]: NamedValue): boolean {
  return isSecretName(name) || findPassword(value) !== undefined;
}

/** Of `Bearer abc` the second word is the secret, of an address its password. */
function listSecretParts(value: string): readonly string[] {
  const [, word = ""] = /^(?:Bearer|Basic|Token)\s+(\S+)$/i.exec(value) ?? [];
  return [value, word, findPassword(value) ?? ""];
}

function findPassword(value: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]*:([^/?#@\s]+)@/i.exec(value)?.[1];
}
