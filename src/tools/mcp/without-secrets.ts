import { SpanlineError } from "../../domain/errors.ts";
import { scrubber } from "../../domain/scrubber.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import type { Environment } from "../../platform/environment.ts";

/** Takes out of a server's failure what the server was given and nobody else should see: it may have quoted it. */
export type WithoutSecrets = (failure: SpanlineError) => SpanlineError;

export function withoutSecrets(settings: McpServerSettings, ours: Environment): WithoutSecrets {
  const scrub = scrubber(secretsOf(settings, ours));
  return ({ code, message, details }) =>
    new SpanlineError(code, scrub(message), { details: scrub(details) });
}

function secretsOf(settings: McpServerSettings, ours: Environment): readonly string[] {
  if (settings.type !== "stdio") {
    // Of `Bearer abc` the second word is the secret.
    return Object.values(settings.headers ?? {}).flatMap((text) => [text, ...text.split(" ")]);
  }
  const { env = {}, inheritEnv = [] } = settings;
  return [...Object.values(env), ...inheritEnv.map((name) => ours[name] ?? "")];
}
