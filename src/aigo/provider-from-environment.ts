import type { ConnectionOptions } from "../aws/agentcore-client.ts";
import { parseArn } from "../aws/arn.ts";
import type { Credentials } from "../aws/credentials.ts";
import { SpanlineError } from "../domain/errors.ts";
import type { Environment } from "../platform/environment.ts";
import type { InvocationLimits } from "../providers/agentcore/invocation-limits.ts";
import { harnessProvider } from "../providers/agentcore/harness-provider.ts";
import { runtimeProvider } from "../providers/agentcore/runtime-provider.ts";
import type { Provider } from "../providers/provider.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

export interface EnvironmentOptions extends Pick<ConnectionOptions, "send" | "clock"> {
  readonly limits?: InvocationLimits;
}

/**
 * Creates the provider of the agent named by the environment, with the environment's credentials. No other credential
 * source on this machine is used, so an evaluation never runs under another identity.
 */
export function providerFromEnvironment(
  environment: Environment,
  options: EnvironmentOptions = {},
): Provider {
  const harnessArn = readVariable(environment, "AWS_HARNESS_ARN");
  const runtimeArn = readVariable(environment, "AWS_RUNTIME_ARN");
  if ((harnessArn === undefined) === (runtimeArn === undefined)) {
    const problem = harnessArn === undefined ? "neither is set" : "both are set";
    throw createEnvironmentError(
      "AWS_HARNESS_ARN",
      `Expected exactly one of AWS_HARNESS_ARN and AWS_RUNTIME_ARN: ${problem}`,
    );
  }
  checkRegion(environment, harnessArn ?? runtimeArn ?? "");
  const connection = { ...options, ...readConnection(environment) };
  return harnessArn === undefined
    ? runtimeProvider({ ...connection, runtimeArn: runtimeArn ?? "" })
    : harnessProvider({ ...connection, harnessArn });
}

/** Throws `invalid_option` if `AWS_REGION` differs from the region of the ARN. */
function checkRegion(environment: Environment, arn: string): void {
  const region = readVariable(environment, "AWS_REGION");
  const arnRegion = parseArn(arn)?.region;
  if (region === undefined || arnRegion === undefined || region === arnRegion) return;
  throw createEnvironmentError(
    "AWS_REGION",
    `AWS_REGION is ${region}, but the agent is in ${arnRegion}. Fix: unset it, or set it to the agent's region`,
  );
}

function readConnection(environment: Environment): ConnectionOptions {
  const endpoint =
    readVariable(environment, "AWS_ENDPOINT_URL_BEDROCK_AGENTCORE") ??
    readVariable(environment, "AWS_ENDPOINT_URL");
  const bearerToken = readVariable(environment, "AWS_BEARER_TOKEN_BEDROCK_AGENTCORE");
  return {
    ...omitUndefined({ endpoint }),
    ...(bearerToken === undefined
      ? { credentials: readCredentials(environment) }
      : { bearerToken, credentials: async () => readCredentials(environment) }),
  };
}

function readCredentials(environment: Environment): Credentials {
  const sessionToken = readVariable(environment, "AWS_SESSION_TOKEN");
  return {
    accessKeyId: readSecret(environment, "AWS_ACCESS_KEY_ID"),
    secretAccessKey: readSecret(environment, "AWS_SECRET_ACCESS_KEY"),
    ...omitUndefined({ sessionToken }),
  };
}

function readSecret(environment: Environment, name: string): string {
  const value = readVariable(environment, name);
  if (value !== undefined) return value;
  const message = `${name} is not set, and no other credential source is used. Nothing was sent. Fix: set ${name}`;
  throw new SpanlineError("no_credentials", message, { details: { path: name } });
}

/** Reads a variable. An empty variable counts as unset. */
function readVariable(environment: Environment, name: string): string | undefined {
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
  return value === "" ? undefined : value;
}

function createEnvironmentError(path: string, message: string): SpanlineError {
  return new SpanlineError("invalid_option", message, { details: { path } });
}
