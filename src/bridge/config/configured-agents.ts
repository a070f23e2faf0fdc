import { dirname, resolve } from "node:path";
import type { Agent } from "../../session/agent.ts";
import type { Tool } from "../../tools/tool.ts";
import type { StartedAgents } from "../bridge-options.ts";
import { defineAgent } from "../define-agent.ts";
import { definePolicy } from "../define-policy.ts";
import { loadTools } from "../load-tools.ts";
import type { ConfigSurroundings } from "./config-surroundings.ts";
import { expectTrust, type IsTrusted } from "./expect-trust.ts";
import { demoDefaults, hasDemoTools } from "./demo-defaults.ts";
import { filesOf } from "./files-of.ts";
import { needsTrust } from "./needs-trust.ts";
import { inFile, placedAt } from "./placed-at.ts";
import { providerFrom, sharedDemo } from "./provider-from.ts";
import type { StartedProvider } from "./started-provider.ts";
import { serversOf } from "./servers-of.ts";
import { readConfig, type AgentConfig } from "./read-config.ts";
import { keyFilesOf } from "./read-serve.ts";
import { documentIn } from "./read-document.ts";
import { readText } from "./read-text.ts";
import { withVariables, type FoundEnvironment } from "./variables.ts";
import { markOf } from "./used-config.ts";
import { unknownTools } from "./unknown-tools.ts";
import { workspaceFrom } from "./workspace-from.ts";

export interface ConfiguredOptions extends ConfigSurroundings {
  readonly version: string;
  readonly report: (error: unknown) => void;
  readonly isTrusted: IsTrusted;
}

/** The agents that a configuration file defines, ready to be run. */
export async function configuredAgents(options: ConfiguredOptions): Promise<StartedAgents> {
  const text = await readText(options.file);
  const document = documentIn(text, options.file);
  const mark = await markOf(options.file, text);
  const started = new Set<StartedProvider>();
  const close = async (): Promise<void> => {
    for (const one of started) {
      started.delete(one);
      await one.close().catch(options.report);
    }
  };
  const demo = sharedDemo(options);
  try {
    const read = readConfig(document);
    const { agents, serve } = read;
    const keyFiles = keyFilesOf(serve).map((file) => resolve(dirname(options.file), file));
    const protectedFolders = [...options.protectedFolders, ...keyFiles];
    const version = { read, mark: { ...mark, file: options.file } };
    await expectTrust(agents.map(needsTrust), { ...version, isTrusted: options.isTrusted });
    const made: Agent[] = [];
    for (const config of agents) {
      const found = await withVariables(
        config.environment,
        options.environment,
        dirname(options.file),
      );
      const path = `agents.${config.name}`;
      const around = { ...options, ...found, protectedFolders, demo };
      const provider = await providerFrom(config.provider, around).catch(
        throwAt(`${path}.provider`),
      );
      started.add(provider);
      made.push(await agentFrom(config, provider, around).catch(throwAt(path)));
    }
    return { agents: made, config: mark, close };
  } catch (error) {
    await close();
    throw inFile(error, options.file);
  }
}

async function agentFrom(
  config: AgentConfig,
  { provider, tools: unlessOwn = [] }: StartedProvider,
  options: ConfiguredOptions & FoundEnvironment,
): Promise<Agent> {
  const { name, policy, toolFiles, rest } = config;
  const folder = dirname(options.file);
  const mcp = await serversOf(config, { folder, environment: options.environment });
  const tools: Tool[] = hasDemoTools(config) ? [...unlessOwn] : [];
  for (const file of toolFiles) tools.push(...(await loadTools(file, folder)));
  const protectedFolders = [...options.protectedFolders, ...(await filesOf(config, folder))];
  const readable = policy ?? definePolicy({ default: "allow" });
  const workspace = await workspaceFrom(config.workspace, {
    ...options,
    folder,
    protectedFolders,
    policy: readable,
  });
  const all = [...tools, ...workspace.tools];
  if (policy !== undefined) {
    const names = all.map(({ facts }) => facts.name);
    const known = { names, servers: config.serverNames, isWhole: true };
    unknownTools(policy, `agents.${name}.policy`, known).forEach(options.notice);
  }
  const { version, clock, environment, report } = options;
  const secrets = [...options.secrets, ...mcp.secrets];
  const { servers } = mcp;
  return defineAgent({
    ...demoDefaults(config),
    ...rest,
    name,
    provider,
    tools: all,
    workspace: workspace.place,
    ...(workspace.scope !== undefined && { mutationScope: workspace.scope }),
    ...(policy !== undefined && { policy }),
    ...(servers.length > 0 && { mcp: { servers, secrets, version, clock, environment, report } }),
  });
}

function throwAt(path: string): (error: unknown) => never {
  return (error) => {
    throw placedAt(path, error);
  };
}
