import type { ConnectionOptions } from "../../../bridge/agent/agentcore-provider.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import { TEST_CREDENTIALS } from "../../../emulator/emulator-options.ts";
import type { Environment } from "../../../platform/environment.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** Flags of all commands that connect to AgentCore. */
export interface ConnectionFlags {
  readonly endpointUrl?: string;
  readonly profile?: string;
}

/**
 * Resolves the connection to a plane of AgentCore; flags override the environment. A loopback address belongs to an
 * emulator, which needs no account: without credentials the emulator's test credentials are used.
 */
export function resolveConnection(
  { endpointUrl, profile }: ConnectionFlags,
  environment: Environment,
  plane: keyof typeof ENDPOINT_VARIABLES = "data",
): ConnectionOptions {
  // An empty variable counts as unset.
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const data = resolveEndpointUrl(endpointUrl, env, ENDPOINT_VARIABLES.data);
  const control = resolveEndpointUrl(endpointUrl, env, ENDPOINT_VARIABLES.control);
  const address = plane === "data" ? data : control;
  // A bearer token authorizes invocations only; the control plane requires signatures.
  const bearerToken = plane === "data" ? env["AWS_BEARER_TOKEN_BEDROCK_AGENTCORE"] : undefined;
  const isLocal = address !== undefined && isLoopback(address);
  const hasCredentials = [profile, env["AWS_PROFILE"], env["AWS_ACCESS_KEY_ID"], bearerToken].some(
    (credential) => credential !== undefined,
  );
  return {
    endpoint: omitUndefined({ data, control }),
    ...omitUndefined({ profile, bearerToken }),
    ...(isLocal && !hasCredentials && { credentials: TEST_CREDENTIALS }),
  };
}

const ENDPOINT_VARIABLES = {
  data: "AWS_ENDPOINT_URL_BEDROCK_AGENTCORE",
  control: "AWS_ENDPOINT_URL_BEDROCK_AGENTCORE_CONTROL",
} as const;

/** Throws `invalid_option` for an invalid URL. The message names the flag or the variable with the URL. */
function resolveEndpointUrl(
  endpointUrl: string | undefined,
  env: Environment,
  variable: string,
): string | undefined {
  const rawUrl: readonly (readonly [name: string, url: string | undefined])[] = [
    ["--endpoint-url", endpointUrl],
    [variable, env[variable]],
    ["AWS_ENDPOINT_URL", env["AWS_ENDPOINT_URL"]],
  ];
  const [name, url] = rawUrl.find(([, address]) => address !== undefined) ?? [];
  if (url === undefined || /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    return url;
  }
  const message = `${name} is ${JSON.stringify(url)}: expected a URL such as http://127.0.0.1:4780`;
  throw new SpanlineError("invalid_option", message);
}

function isLoopback(url: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}
