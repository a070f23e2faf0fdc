import { join } from "node:path";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Provider } from "../../providers/provider.ts";
import { createAgentCoreProvider } from "../agent/agentcore-provider.ts";
import type { ConfigContext, StartedProvider } from "./config-context.ts";
import type {
  AgentCoreConfig,
  LocalConfig,
  ProviderConfig,
} from "../../config/agent/read-provider.ts";
import type { Environment } from "../../platform/environment.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ProviderContext {
  readonly clock: SteadyClock;
  readonly environment: Environment;
  /** Starts the emulator's demo agent. */
  readonly demo: () => Promise<StartedProvider>;
}

/** Creates the provider of a configuration. No request is sent. */
export async function createProvider(
  config: ProviderConfig,
  context: ProviderContext,
): Promise<StartedProvider> {
  switch (config.type) {
    case "local":
      return toStartedProvider(await createFromLocalConfig(config, context));
    case "harness":
    case "runtime":
      return toStartedProvider(createFromAgentCoreConfig(config, context));
    case "demo":
      return context.demo();
    default:
      return config satisfies never;
  }
}

function toStartedProvider(provider: Provider): StartedProvider {
  return { provider, close: async () => {} };
}

async function createFromLocalConfig(
  config: LocalConfig,
  { environment }: ProviderContext,
): Promise<Provider> {
  const { localProvider } = await import("../../providers/local/local-provider.ts");
  const { modelFromName } = await import("../../models/model-from-name.ts");
  const { type: _, model: name, baseUrl, limits = {}, ...settings } = config;
  const server = baseUrl === undefined ? {} : { baseUrl };
  const model = modelFromName(name, environment, { limits, ...server });
  return localProvider({ ...settings, model });
}

function createFromAgentCoreConfig(
  config: AgentCoreConfig,
  { environment }: ProviderContext,
): Provider {
  const { type, arn, qualifier, region, profile, endpoint, user, limits, overrides } = config;
  const place = region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"];
  return createAgentCoreProvider({
    [type]: arn,
    overrides,
    ...omitUndefined({ region: place, qualifier, profile, endpoint, userId: user, limits }),
  });
}

/**
 * Returns a function for starting the demo emulator, shared by all agents, because only one process may use its folder.
 * A single run uses memory instead, since a running `spanline up` may use the folder.
 */
export function createSharedDemo({
  directory,
  clock,
  isSingleRun = false,
}: Pick<ConfigContext, "directory" | "clock" | "isSingleRun">): ProviderContext["demo"] {
  let started: Promise<StartedProvider> | undefined;
  return () => {
    started ??= import("../agent/demo-agent.ts").then(({ startDemoProvider }) =>
      startDemoProvider(isSingleRun ? undefined : join(directory, "emulator"), {
        directory,
        clock,
      }),
    );
    return started;
  };
}
