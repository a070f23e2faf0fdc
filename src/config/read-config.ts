import {
  anything,
  array,
  object,
  oneOf,
  optional,
  record,
  string,
  withDefault,
  type Schema,
} from "../data/schema-reader.ts";
import { IssueCollector, joinPath, throwInvalid } from "../data/schema-error.ts";
import type { Policy } from "../domain/policy/policy.ts";
import { POLICY_SCHEMA } from "../policy/document/read-policy.ts";
import { UPDATES_SETTINGS, type UpdatesSetting } from "../wire/acp/decode/client-profile.ts";
import { MCP_SERVERS_SCHEMA } from "./agent/read-mcp-servers.ts";
import {
  createSettingsShape,
  refuseTwoRuleSets,
  type AgentSettings,
} from "./agent/agent-settings.ts";
import { readOptions } from "../domain/option-reader.ts";
import type { ServerProgram } from "./trust/code-files.ts";
import { maskReferences } from "./variables/mcp-references.ts";
import { PROVIDER_SCHEMA, type ProviderConfig } from "./agent/read-provider.ts";
import { createServeSchema, type ServeConfig } from "./read-serve.ts";
import { VARIABLES_SCHEMA, type Variables } from "./variables/variables.ts";
import { WORKSPACE_SCHEMA, type WorkspaceConfig } from "./agent/read-workspace.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

/** A parsed configuration file. The first agent is the default. */
export interface Config {
  readonly agents: readonly AgentConfig[];
  readonly serve: ServeConfig;
  readonly acp: AcpConfig;
}

/** Settings for ACP clients over standard input and output, WebSockets and HTTP. */
export interface AcpConfig {
  /** The updates sent to clients. Default: `auto`. */
  readonly updates?: UpdatesSetting;
}

export interface AgentConfig {
  readonly name: string;
  readonly provider: ProviderConfig;
  readonly workspace?: WorkspaceConfig;
  /** Modules that export tools, relative to the configuration. */
  readonly toolFiles: readonly string[];
  readonly policy?: Policy;
  /** Validated, with unresolved references. */
  readonly mcpServers?: unknown;
  /** Names of the MCP servers. */
  readonly serverNames: readonly string[];
  /** The MCP servers that are programs on this machine. */
  readonly programs: readonly ServerProgram[];
  readonly environment: Variables;
  /** Settings for `defineAgent`, validated except for the names of tools. */
  readonly passthrough: AgentSettings;
}

/** Parses and validates a configuration. Throws `invalid_option` with the path of the first invalid setting. */
export function readConfig(value: unknown): Config {
  return readOptions(CONFIG_SCHEMA, value ?? {}, "");
}

const CONFIG_SCHEMA: Schema<Config> = (value, path) => {
  const { agents } = AGENTS_SCHEMA(value, path);
  checkWorkerAgents(agents, path);
  const serve = createServeSchema(agents.map(({ name }) => name));
  const shape = { agents: anything, serve, acp: withDefault(ACP_SCHEMA, {}) };
  return { ...object(shape)(value, path), agents };
};

/** Refuses an agent for workers that the configuration does not have. */
function checkWorkerAgents(agents: readonly AgentConfig[], path: string): void {
  const names = agents.map(({ name }) => name);
  const issues = new IssueCollector();
  for (const { name, passthrough } of agents) {
    const { workers } = passthrough;
    const workerAgents = typeof workers === "object" ? (workers.agents ?? []) : [];
    const listPath = joinPath(path, `agents.${name}.workers.agents`);
    for (const [at, value] of workerAgents.entries())
      issues.attempt(() => oneOf(names)(value, `${listPath}[${at}]`));
  }
  issues.throwIfAny();
}

const AGENT_SCHEMA = object({
  provider: PROVIDER_SCHEMA,
  workspace: optional(WORKSPACE_SCHEMA),
  tools: withDefault(array(string()), []),
  policy: optional(POLICY_SCHEMA),
  mcpServers: anything,
  environment: withDefault(VARIABLES_SCHEMA, []),
  ...createSettingsShape(),
});

const NAMED_AGENTS = record((value, path) => readAgent(value, path), {
  max: 100,
  expected: 'an object with each agent under its name, such as "coder"',
});

const AGENTS_SCHEMA = object(
  {
    agents: (value: unknown, path: string): readonly AgentConfig[] => {
      const agents = Object.entries(NAMED_AGENTS(value ?? {}, path));
      if (agents.length === 0) {
        const fix =
          "name one with its provider, such as agents: { demo: { provider: { type: demo } } }";
        throwInvalid({ path, value: undefined, expected: "at least one agent", fix });
      }
      return agents.map(([name, agent]) => ({ ...agent, name }));
    },
  },
  { otherNames: "ignore" },
);

const ACP_SCHEMA = object({ updates: optional(oneOf(UPDATES_SETTINGS)) });

function readAgent(value: unknown, path: string): Omit<AgentConfig, "name"> {
  const agent = AGENT_SCHEMA(value, path);
  refuseTwoRuleSets(agent, path);
  const { provider, workspace, tools, policy, mcpServers, environment, ...passthrough } = agent;
  return {
    provider,
    toolFiles: tools,
    mcpServers,
    ...readServers(mcpServers, `${path}.mcpServers`),
    environment,
    passthrough,
    ...omitUndefined({ workspace, policy }),
  };
}

function readServers(value: unknown, path: string): Pick<AgentConfig, "serverNames" | "programs"> {
  const servers = value === undefined ? [] : MCP_SERVERS_SCHEMA(maskReferences(value, path), path);
  return {
    serverNames: servers.map(({ name }) => name),
    programs: servers.flatMap((server) => {
      if (server.type !== "stdio") return [];
      const { name, command, args = [], cwd = "." } = server;
      return [{ server: name, command, args, cwd }];
    }),
  };
}
