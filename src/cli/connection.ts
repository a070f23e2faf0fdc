import type { ConnectionOptions } from "../bridge/provider-for.ts";
import { TEST_CREDENTIALS } from "../emulator/emulator-options.ts";

/** What commands that reach AgentCore have in common. */
export interface ConnectionFlags {
  readonly endpointUrl?: string;
  readonly profile?: string;
}

interface Environment {
  readonly [name: string]: string | undefined;
}

/**
 * How to reach AgentCore, by flags before the environment. An address on this machine is an emulator's: it needs no
 * account, so where there are no credentials its test pair does.
 */
export function connectionFrom(
  { endpointUrl, profile }: ConnectionFlags,
  environment: Environment,
): ConnectionOptions {
  // A variable that is set to nothing is not set.
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const {
    AWS_ENDPOINT_URL: both,
    AWS_ENDPOINT_URL_BEDROCK_AGENTCORE: data = both,
    AWS_ENDPOINT_URL_BEDROCK_AGENTCORE_CONTROL: control = both,
    AWS_BEARER_TOKEN_BEDROCK_AGENTCORE: bearerToken,
  } = env;
  const dataUrl = endpointUrl ?? data;
  const controlUrl = endpointUrl ?? control;
  const endpoint = {
    ...(dataUrl !== undefined && { data: dataUrl }),
    ...(controlUrl !== undefined && { control: controlUrl }),
  };
  const isLocal = dataUrl !== undefined && isLoopback(dataUrl);
  const isKnown = [profile, env["AWS_PROFILE"], env["AWS_ACCESS_KEY_ID"], bearerToken].some(
    (given) => given !== undefined,
  );
  return {
    endpoint,
    ...(profile !== undefined && { profile }),
    ...(bearerToken !== undefined && { bearerToken }),
    ...(isLocal && !isKnown && { credentials: TEST_CREDENTIALS }),
  };
}

function isLoopback(url: string): boolean {
  return (
    URL.canParse(url) && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname)
  );
}
