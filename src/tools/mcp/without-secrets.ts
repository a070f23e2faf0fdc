import { SpanlineError } from "../../domain/errors.ts";
import { isSecretName } from "../../domain/is-secret-name.ts";
import { scrubber, type Scrub } from "../../domain/scrubber.ts";
import type { Environment } from "../../platform/environment.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";

/** Takes out of what a server says what it was given and nobody else should see: it may quote it. */
export interface WithoutSecrets {
  /** For what it says itself, before it is cut. */
  readonly scrub: Scrub;
  /** For why it failed. Here nothing that it was given has a place, secret or not. */
  readonly failure: (failure: SpanlineError) => SpanlineError;
}

export interface ConfidenceWork {
  readonly environment: Environment;
  /** What is known to be secret, beside what is called so. */
  readonly secrets?: readonly string[];
}

export function withoutSecrets(
  settings: McpServerSettings,
  { environment, secrets = [] }: ConfidenceWork,
): WithoutSecrets {
  const given = givenTo(settings, environment);
  const confidential = given.filter(isConfidential).flatMap(([, value]) => partsOf(value));
  const all = given.flatMap(([, value]) => partsOf(value));
  const scrubFailure = scrubber([...secrets.flatMap(partsOf), ...all]);
  return {
    scrub: scrubber([...secrets.flatMap(partsOf), ...confidential]),
    failure: ({ code, message, details }) =>
      new SpanlineError(code, scrubFailure(message), { details: scrubFailure(details) }),
  };
}

type Given = readonly [name: string, value: string];

function givenTo(settings: McpServerSettings, ours: Environment): readonly Given[] {
  if (settings.type !== "stdio") {
    return [...Object.entries(settings.headers ?? {}), ...new URL(settings.url).searchParams];
  }
  const { env = {}, inheritEnv = [] } = settings;
  return [...inheritEnv.map((name): Given => [name, ours[name] ?? ""]), ...Object.entries(env)];
}

/** Folders and the like stay: results are full of them. */
function isConfidential([name, value]: Given): boolean {
  return isSecretName(name) || passwordIn(value) !== undefined;
}

/** Of `Bearer abc` the second word is the secret, of an address its password. */
function partsOf(value: string): readonly string[] {
  const [, word = ""] = /^(?:Bearer|Basic|Token)\s+(\S+)$/i.exec(value) ?? [];
  return [value, word, passwordIn(value) ?? ""];
}

function passwordIn(value: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]*:([^/?#@\s]+)@/i.exec(value)?.[1];
}
