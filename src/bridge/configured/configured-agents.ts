import { dirname, resolve } from "node:path";
import type { Agent } from "../../session/runtime/agent/agent.ts";
import type { Tool } from "../../tools/tool.ts";
import type { StartedAgents } from "../bridge-options.ts";
import { defineAgent } from "../agent/define-agent.ts";
import { definePolicy } from "../agent/define-policy.ts";
import { loadTools } from "../agent/load-tools.ts";
import type { ConfigContext, StartedProvider } from "./config-context.ts";
import { requireTrust, type IsTrusted } from "../../config/trust/require-trust.ts";
import { resolveDemoSettings, hasDemoTools } from "./demo-settings.ts";
import { listProtectedFiles } from "../../config/trust/protected-files.ts";
import { findTrustReason } from "../../config/trust/trust-reasons.ts";
import { addFileToError, prefixErrorPath } from "../../config/error-path.ts";
import { createProvider, createSharedDemo } from "./create-provider.ts";
import { resolveMcpServers } from "./resolve-mcp-servers.ts";
import { readConfig, type AgentConfig } from "../../config/read-config.ts";
import { listKeyFiles } from "../../config/read-serve.ts";
import { parseConfigText } from "../../config/read-document.ts";
import { readConfigFile } from "../../config/read-config-file.ts";
import { resolveVariables, type ResolvedEnvironment } from "../../config/variables/variables.ts";
import { fingerprintConfig } from "../../config/selected-config.ts";
import { findUnknownTools } from "../../config/agent/find-unknown-tools.ts";
import { createWorkspace } from "./create-workspace.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ConfiguredAgentsOptions extends ConfigContext {
  readonly version: string;
  readonly report: (error: unknown) => void;
  readonly isTrusted: IsTrusted;
}

/**
 * Starts the agents defined by a configuration file. Throws if the configuration is invalid, or needs trust and is not
 * trusted.
 */
export async function startConfiguredAgents(
  options: ConfiguredAgentsOptions,
): Promise<StartedAgents> {
  const text = await readConfigFile(options.file);
  const document = parseConfigText(text, options.file);
  const mark = await fingerprintConfig(options.file, text);
  const started = new Set<StartedProvider>();
  const close = async (): Promise<void> => {
    for (const startedProvider of started) {
      started.delete(startedProvider);
      await startedProvider.close().catch(options.report);
    }
  };
  const demo = createSharedDemo(options);
  try {
    const parsed = readConfig(document);
    const { agents, serve } = parsed;
    const keyFiles = listKeyFiles(serve).map((file) => resolve(dirname(options.file), file));
    const protectedFolders = [...options.protectedFolders, ...keyFiles];
    const version = { read: parsed, mark: { ...mark, file: options.file } };
    await requireTrust(agents.map(findTrustReason), { ...version, isTrusted: options.isTrusted });
    const createdAgents: Agent[] = [];
    for (const config of agents) {
      const resolvedEnvironment = await resolveVariables(
        config.environment,
        options.environment,
        dirname(options.file),
      );
      const path = `agents.${config.name}`;
      const context = { ...options, ...resolvedEnvironment, protectedFolders, demo };
      const provider = await createProvider(config.provider, context).catch(
        rethrowAt(`${path}.provider`),
      );
      started.add(provider);
      createdAgents.push(
        await createConfiguredAgent(config, provider, context).catch(rethrowAt(path)),
      );
    }
    return { agents: createdAgents, config: mark, close };
  } catch (error) {
    await close();
    throw addFileToError(error, options.file);
  }
}

async function createConfiguredAgent(
  config: AgentConfig,
  { provider, tools: defaultTools = [] }: StartedProvider,
  options: ConfiguredAgentsOptions & ResolvedEnvironment,
): Promise<Agent> {
  const { name, policy, toolFiles, passthrough } = config;
  const folder = dirname(options.file);
  const mcp = await resolveMcpServers(config, { folder, environment: options.environment });
  const tools: Tool[] = hasDemoTools(config) ? [...defaultTools] : [];
  for (const file of toolFiles) tools.push(...(await loadTools(file, folder)));
  const protectedFolders = [
    ...options.protectedFolders,
    ...(await listProtectedFiles(config, folder)),
  ];
  const readable = policy ?? definePolicy({ default: "allow" });
  const workspace = await createWorkspace(config.workspace, {
    ...options,
    folder,
    protectedFolders,
    policy: readable,
  });
  const all = [...tools, ...workspace.tools];
  const { version, clock, environment, report } = options;
  const secrets = [...options.secrets, ...mcp.secrets];
  const { servers } = mcp;
  const agent = defineAgent({
    ...resolveDemoSettings(config),
    ...passthrough,
    name,
    provider,
    tools: all,
    workspace: workspace.definition,
    ...omitUndefined({ mutationScope: workspace.scope, policy }),
    ...(servers.length > 0 && { mcp: { servers, secrets, version, clock, environment, report } }),
  });
  if (policy !== undefined) {
    // The agent also has tools of its settings, such as `workers`.
    const names = [...agent.tools.keys()];
    const knownTools = { names, servers: config.serverNames, isComplete: true };
    findUnknownTools(policy, `agents.${name}.policy`, knownTools).forEach(options.notice);
  }
  return agent;
}

function rethrowAt(path: string): (error: unknown) => never {
  return (error) => {
    throw prefixErrorPath(path, error);
  };
}
