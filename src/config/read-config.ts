import { isObject } from "../data/json.ts";
import { formatValue } from "../text/format-value.ts";
import type { Policy } from "../domain/policy/policy.ts";
import { readPolicy } from "../policy/document/read-policy.ts";
import { readMcpServers } from "./agent/read-mcp-servers.ts";
import type { AgentDefinition } from "./agent/agent-definition.ts";
import { checkSettings } from "./agent/check-definition.ts";
import { readOptions, invalidOptionError, type UncheckedOptions } from "./option-reader.ts";
import type { ServerProgram } from "./trust/code-files.ts";
import { maskReferences } from "./variables/mcp-references.ts";
import { readStringList } from "./string-list.ts";
import { readProvider, type ProviderConfig } from "./agent/read-provider.ts";
import { readAcp, type AcpConfig } from "./read-acp.ts";
import { readServe, type ServeConfig } from "./read-serve.ts";
import { readVariables, type Variables } from "./variables/variables.ts";
import { readWorkspace, type WorkspaceConfig } from "./agent/read-workspace.ts";

/** What a configuration file says: agents by their names, the first of which is the default. */
export interface Config {
  readonly agents: readonly AgentConfig[];
  readonly serve: ServeConfig;
  readonly acp: AcpConfig;
}

export interface AgentConfig {
  readonly name: string;
  readonly provider: ProviderConfig;
  readonly workspace?: WorkspaceConfig;
  /** Files of code that export tools, from the folder of the configuration. */
  readonly toolFiles: readonly string[];
  readonly policy?: Policy;
  /** Checked, with references that are not followed yet. */
  readonly mcpServers?: unknown;
  /** Their names. */
  readonly serverNames: readonly string[];
  /** Those that are programs of this machine. */
  readonly programs: readonly ServerProgram[];
  readonly environment: Variables;
  /** As `defineAgent` takes it; checked, but for the names of tools. */
  readonly passthrough: UncheckedOptions;
}

/** Those that are handed on as they are. */
const PASSTHROUGH_OPTIONS = [
  "approvals",
  "caps",
  "onLost",
  "settle",
  "approvalSeconds",
  "resultsSeconds",
  "invalidToolInput",
  "images",
  "contextTokens",
  "upstream",
  "commands",
  "terminalTool",
] as const satisfies readonly (keyof AgentDefinition)[];

const AGENT_OPTIONS = [
  "provider",
  "workspace",
  "tools",
  "policy",
  "mcpServers",
  "environment",
  ...PASSTHROUGH_OPTIONS,
];

export function readConfig(value: unknown): Config {
  const { agents, serve, acp } = readOptions(value ?? {}, "", ["agents", "serve", "acp"]);
  if (agents !== undefined && agents !== null && !isObject(agents)) {
    const message = `agents is ${formatValue(agents)}, wanted an object: each agent under its name, such as "coder"`;
    throw invalidOptionError("agents", message);
  }
  if (!isObject(agents) || Object.keys(agents).length === 0) {
    const example = "agents: { demo: { provider: { type: demo } } }";
    throw invalidOptionError(
      "agents",
      `There are no agents; name one with its provider, such as ${example}`,
    );
  }
  const entries = Object.entries(agents);
  if (entries.length > MAX_AGENTS) {
    throw invalidOptionError("agents", `There are more than ${MAX_AGENTS} agents`);
  }
  return {
    agents: entries.map(([name, agent]) => readAgent(name, agent)),
    serve: readServe(serve, Object.keys(agents)),
    acp: readAcp(acp),
  };
}

const MAX_AGENTS = 100;

function readAgent(name: string, value: unknown): AgentConfig {
  const path = `agents.${name}`;
  const options = readOptions(value, path, AGENT_OPTIONS);
  const { workspace, policy, environment, mcpServers } = options;
  checkSettings(options, path);
  return {
    name,
    provider: readProvider(options["provider"], `${path}.provider`),
    toolFiles: readStringList(options["tools"], `${path}.tools`),
    mcpServers,
    ...readServers(mcpServers, `${path}.mcpServers`),
    environment: readVariables(environment, `${path}.environment`),
    passthrough: Object.fromEntries(
      PASSTHROUGH_OPTIONS.flatMap((option) =>
        options[option] === undefined ? [] : [[option, options[option]]],
      ),
    ),
    ...(workspace !== undefined && { workspace: readWorkspace(workspace, `${path}.workspace`) }),
    ...(policy !== undefined && { policy: readPolicy(policy, `${path}.policy`) }),
  };
}

function readServers(value: unknown, path: string): Pick<AgentConfig, "serverNames" | "programs"> {
  const servers = value === undefined ? [] : readMcpServers(maskReferences(value, path), path);
  return {
    serverNames: servers.map(({ name }) => name),
    programs: servers.flatMap((server) => {
      if (server.type !== "stdio") return [];
      const { name, command, args = [], cwd = "." } = server;
      return [{ server: name, command, args, cwd }];
    }),
  };
}
