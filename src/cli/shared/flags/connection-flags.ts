import type { ConnectionOptions } from "../../../bridge/agent/agentcore-provider.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import { TEST_CREDENTIALS } from "../../../emulator/emulator-options.ts";
import type { Environment } from "../../../platform/environment.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** What commands that reach AgentCore have in common. */
export interface ConnectionFlags {
  readonly endpointUrl?: string;
  readonly profile?: string;
}

/**
 * How to reach a plane of AgentCore, by flags before the environment. An address on this machine is an emulator's: it
 * needs no account, so where there are no credentials its test pair does.
 */
export function resolveConnection(
  { endpointUrl, profile }: ConnectionFlags,
  environment: Environment,
  plane: keyof typeof ENDPOINT_VARIABLES = "data",
): ConnectionOptions {
  // A variable that is set to nothing is not set.
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const data = resolveEndpointUrl(endpointUrl, env, ENDPOINT_VARIABLES.data);
  const control = resolveEndpointUrl(endpointUrl, env, ENDPOINT_VARIABLES.control);
  const address = plane === "data" ? data : control;
  // A token lets somebody invoke an agent; who manages agents signs.
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

/** What is no address is refused under the name by which its user gave it. */
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
  const message = `${name} is ${JSON.stringify(url)}, wanted an address such as http://127.0.0.1:4780`;
  throw new SpanlineError("invalid_option", message);
}

function isLoopback(url: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}
