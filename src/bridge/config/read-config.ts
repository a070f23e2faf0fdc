import { isObject } from "../../domain/json.ts";
import type { Policy } from "../../domain/policy.ts";
import { readPolicy } from "../../policy/document/read-policy.ts";
import { readMcpServers } from "../read-mcp-servers.ts";
import type { AgentDefinition } from "../agent-definition.ts";
import { checkSettings } from "../check-definition.ts";
import { optionsAt, wrongOption, type Given } from "../check-options.ts";
import { withoutValues } from "./mcp-references.ts";
import { under } from "./placed-at.ts";
import { textsAt } from "./texts-at.ts";
import { readProvider, type ProviderConfig } from "./read-provider.ts";
import { readVariables, type Variables } from "./variables.ts";
import { readWorkspace, type WorkspaceConfig } from "./read-workspace.ts";

/** What a configuration file says: agents by their names, the first of which is the default. */
export interface Config {
  readonly agents: readonly AgentConfig[];
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
  readonly environment: Variables;
  /** As `defineAgent` takes it; checked, but for the names of tools. */
  readonly rest: Given;
}

/** Those that are handed on as they are. */
const PLAIN = [
  "approvals",
  "caps",
  "onLost",
  "settle",
  "approvalSeconds",
  "upstream",
  "terminalTool",
] as const satisfies readonly (keyof AgentDefinition)[];

const NAMES = ["provider", "workspace", "tools", "policy", "mcpServers", "environment", ...PLAIN];

export function readConfig(value: unknown): Config {
  const { agents } = optionsAt(value ?? {}, "", ["agents"]);
  if (!isObject(agents) || Object.keys(agents).length === 0) {
    throw wrongOption("agents", "There are no agents; name one under agents, with its provider");
  }
  const entries = Object.entries(agents);
  if (entries.length > MOST_AGENTS) {
    throw wrongOption("agents", `There are more than ${MOST_AGENTS} agents`);
  }
  return { agents: entries.map(([name, agent]) => readAgent(name, agent)) };
}

const MOST_AGENTS = 100;

function readAgent(name: string, value: unknown): AgentConfig {
  const path = `agents.${name}`;
  const given = optionsAt(value, path, NAMES);
  const { workspace, policy, environment, mcpServers } = given;
  under(path, () => checkSettings(given));
  return {
    name,
    provider: readProvider(given["provider"], `${path}.provider`),
    toolFiles: textsAt(given["tools"], `${path}.tools`),
    mcpServers,
    serverNames: serverNames(mcpServers, `${path}.mcpServers`),
    environment: readVariables(environment, `${path}.environment`),
    rest: Object.fromEntries(
      PLAIN.flatMap((one) => (given[one] === undefined ? [] : [[one, given[one]]])),
    ),
    ...(workspace !== undefined && { workspace: readWorkspace(workspace, `${path}.workspace`) }),
    ...(policy !== undefined && { policy: readPolicy(policy, `${path}.policy`) }),
  };
}

function serverNames(value: unknown, path: string): readonly string[] {
  if (value === undefined) return [];
  return readMcpServers(withoutValues(value, path), path).map(({ name }) => name);
}
