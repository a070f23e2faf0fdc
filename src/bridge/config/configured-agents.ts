import { dirname } from "node:path";
import { SpanlineError } from "../../domain/errors.ts";
import { isObject } from "../../domain/json.ts";
import type { Environment } from "../../platform/environment.ts";
import type { Agent } from "../../session/agent.ts";
import type { Tool } from "../../tools/tool.ts";
import type { StartedAgents } from "../bridge-options.ts";
import { defineAgent } from "../define-agent.ts";
import { definePolicy } from "../define-policy.ts";
import { loadTools } from "../load-tools.ts";
import { readMcpServers } from "../read-mcp-servers.ts";
import type { McpConnection } from "../with-mcp-servers.ts";
import type { ConfigSurroundings } from "./config-surroundings.ts";
import { filesOf } from "./files-of.ts";
import { withValues } from "./mcp-references.ts";
import { placedAt } from "./placed-at.ts";
import { providerFrom } from "./provider-from.ts";
import type { StartedProvider } from "./started-provider.ts";
import { readConfig, type AgentConfig } from "./read-config.ts";
import { readDocument } from "./read-document.ts";
import {
  valueOf,
  withVariables,
  type FoundValue,
  type Reference,
  type ReferencePlace,
} from "./variables.ts";
import { unknownTools } from "./unknown-tools.ts";
import { workspaceFrom } from "./workspace-from.ts";

export interface ConfiguredOptions extends ConfigSurroundings {
  readonly version: string;
  readonly report: (error: unknown) => void;
  /** Whether the configuration may run the code that it names; asked only where it names some. */
  readonly isTrusted: () => Promise<boolean>;
}

/** The agents that a configuration file defines, ready to be run. */
export async function configuredAgents(options: ConfiguredOptions): Promise<StartedAgents> {
  const document = await readDocument(options.file);
  const started: StartedProvider[] = [];
  const close = async (): Promise<void> => {
    for (const one of started.splice(0)) await one.close().catch(options.report);
  };
  try {
    const { agents } = readConfig(document);
    if (agents.some(runsCode) && !(await options.isTrusted())) throw untrusted();
    const made: Agent[] = [];
    for (const config of agents) {
      const environment = await environmentOf(config, options);
      const path = `agents.${config.name}`;
      const around = { ...options, environment };
      const provider = await providerFrom(config.provider, around).catch(
        throwAt(`${path}.provider`),
      );
      started.push(provider);
      made.push(await agentFrom(config, provider, around).catch(throwAt(path)));
    }
    return { agents: made, close };
  } catch (error) {
    await close();
    throw inFile(error, options.file);
  }
}

/** Of its folder, or of anywhere: before anybody calls a tool. */
function runsCode({ toolFiles, mcpServers }: AgentConfig): boolean {
  const servers = isObject(mcpServers) ? Object.values(mcpServers) : [];
  const programs = servers.filter((server) => isObject(server) && server["command"] !== undefined);
  return toolFiles.length > 0 || programs.length > 0 || Array.isArray(mcpServers);
}

function untrusted(): SpanlineError {
  const message =
    "It names code or programs that would be run. Look at it; then `spanline trust` lets it, or --config names it";
  return new SpanlineError("access_denied", message, { details: { path: "config" } });
}

function environmentOf(config: AgentConfig, options: ConfiguredOptions): Promise<Environment> {
  return withVariables(config.environment, options.environment, dirname(options.file));
}

async function agentFrom(
  config: AgentConfig,
  { provider }: StartedProvider,
  options: ConfiguredOptions,
): Promise<Agent> {
  const { name, policy, toolFiles, rest } = config;
  const folder = dirname(options.file);
  const mcp = await serversOf(config, { folder, environment: options.environment });
  const tools: Tool[] = [];
  for (const file of toolFiles) tools.push(...(await loadTools(file, folder)));
  const protectedFolders = [...options.protectedFolders, ...filesOf(config, folder)];
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
  return defineAgent({
    ...rest,
    name,
    provider,
    tools: all,
    workspace: workspace.place,
    ...(workspace.scope !== undefined && { mutationScope: workspace.scope }),
    ...(policy !== undefined && { policy }),
    ...(mcp.servers.length > 0 && { mcp: { ...mcp, version, clock, environment, report } }),
  });
}

async function serversOf(
  { name, mcpServers }: AgentConfig,
  place: ReferencePlace,
): Promise<Pick<McpConnection, "servers" | "secrets">> {
  if (mcpServers === undefined) return { servers: [] };
  const path = `agents.${name}.mcpServers`;
  const find = (at: string, from: Reference): Promise<FoundValue> => valueOf(at, from, place);
  const { value, secrets } = await withValues(mcpServers, path, find);
  return { servers: readMcpServers(value, path), secrets };
}

function throwAt(path: string): (error: unknown) => never {
  return (error) => {
    throw placedAt(path, error);
  };
}

/** Whoever reads it has to know which file it is about. */
function inFile(error: unknown, file: string): unknown {
  if (!(error instanceof SpanlineError)) return error;
  const { code, message, details } = error;
  return new SpanlineError(code, `${file}: ${message}`, { details, cause: error });
}
