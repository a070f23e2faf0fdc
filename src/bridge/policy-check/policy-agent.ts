import { withErrorFile } from "../../config/error-path.ts";
import { dirname, resolve } from "node:path";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import { digestValue, digestText } from "../../platform/digest.ts";
import { readPolicy } from "../../policy/document/read-policy.ts";
import type { Agent } from "../../session/runtime/agent/agent.ts";
import { toServerPrefix } from "../../tools/mcp/model-name.ts";
import type { Tool } from "../../tools/tool.ts";
import { WORKSPACE_TOOL_NAMES, workspaceTools } from "../../tools/workspace/workspace-tools.ts";
import type { ConfigContext } from "../configured/config-context.ts";
import { resolveDemoSettings, hasDemoTools } from "../configured/demo-settings.ts";
import type { IsTrusted } from "../../config/trust/require-trust.ts";
import { listProtectedFiles } from "../../config/trust/protected-files.ts";
import { readConfig, type AgentConfig } from "../../config/read-config.ts";
import { parseConfigText, readDocument } from "../../config/read-document.ts";
import { readConfigFile } from "../../config/read-config-file.ts";
import { WORKSPACE_SCHEMA } from "../../config/agent/read-workspace.ts";
import { resolveMcpServers } from "../configured/resolve-mcp-servers.ts";
import { findStartProblems } from "../configured/start-problems.ts";
import { computeConfigVersion } from "../../config/trust/trusted-configs.ts";
import { findUnknownTools } from "../../config/agent/find-unknown-tools.ts";
import { resolveVariables } from "../../config/variables/variables.ts";
import { defineAgent } from "../agent/define-agent.ts";
import { loadTools } from "../agent/load-tools.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

export interface PolicyCheckContext {
  /** The workspace for a policy without a configuration. */
  readonly root: string;
  readonly protectedFolders: readonly string[];
  /** Receives a warning about the policy. */
  readonly notice: (line: string) => void;
}

/**
 * Creates an agent with the tools of Spanline and the policy of a file, for evaluation only. Its provider rejects every
 * invocation.
 */
export async function loadPolicyAgent(file: string, place: PolicyCheckContext): Promise<Agent> {
  const policy = readPolicy(await readDocument(file));
  const workspace = WORKSPACE_SCHEMA(true, "workspace");
  return createPolicyAgent(
    {
      name: "policy",
      policy,
      workspace,
      passthrough: { askUser: true, runtimeTools: true, workers: true },
      path: "policy",
      serverNames: [],
      isComplete: false,
    },
    { ...place, protectedFolders: [file, ...place.protectedFolders] },
  );
}

/**
 * Creates an agent of a configuration for evaluation: its rules, its workspace tools, and the source of the checked
 * tool. Code of the configuration runs only for a tool outside the workspace, and only if the configuration is trusted.
 */
export async function loadConfiguredAgent(
  file: string,
  { agent: name, tool, configContext, ...place }: ConfiguredAgentContext,
): Promise<Agent> {
  const text = await readConfigFile(file);
  const parsed = withErrorFile(file, () => readConfig(parseConfigText(text, file)));
  const config = parsed.agents.find((candidate) => name === undefined || candidate.name === name);
  if (config === undefined) {
    const names = parsed.agents.map((candidate) => candidate.name);
    const message = formatUnknownName("Agent", name ?? "default", { names });
    throw new SpanlineError("invalid_option", message, { details: { path: "agent" } });
  }
  const { notice } = place;
  const folder = dirname(file);
  const protectedFiles = await listProtectedFiles(config, folder);
  const protectedFolders = [file, ...protectedFiles, ...place.protectedFolders];
  const root = resolve(folder, config.workspace?.root ?? ".");
  (await findStartProblems(config, { ...configContext, ...place, file })).forEach(notice);
  const isTrusted = async (): Promise<boolean> => {
    const { digest } = await computeConfigVersion(parsed, { file, digest: digestText(text) });
    return configContext.isTrusted(digest);
  };
  const checkedAgent = {
    ...config,
    passthrough: { ...resolveDemoSettings(config), ...config.passthrough },
    path: `agents.${config.name}.policy`,
    tool,
    otherTools: await loadOtherTools(config, tool, {
      ...configContext,
      folder,
      root,
      notice,
      isTrusted,
    }),
    isComplete: config.toolFiles.length === 0 && !hasDemoTools(config),
  };
  return createPolicyAgent(checkedAgent, { notice, root, protectedFolders });
}

interface ToolsContext extends Pick<ConfigContext, "directory" | "clock" | "environment"> {
  readonly version: string;
  /** The folder of the configuration. */
  readonly folder: string;
  readonly root: string;
  readonly notice: (line: string) => void;
  readonly isTrusted: () => Promise<boolean>;
}

/**
 * Loads the tools of the tool files and of the MCP server named by the tool's prefix. Empty for a workspace tool, which
 * needs no code of the configuration.
 */
async function loadOtherTools(
  config: AgentConfig,
  tool: string,
  place: ToolsContext,
): Promise<readonly Tool[]> {
  const { name, workspace, toolFiles, serverNames } = config;
  if (hasDemoTools(config)) return (await import("../agent/demo-agent.ts")).createDemoTools(place);
  const isInWorkspace = workspace !== undefined && WORKSPACE_TOOL_NAMES.includes(tool);
  const servers = serverNames.filter((server) => tool.startsWith(`${toServerPrefix(server)}__`));
  if (isInWorkspace || toolFiles.length + servers.length === 0) return [];
  if (!(await place.isTrusted())) {
    const source = servers.length > 0 ? `the MCP server ${servers.join(", ")}` : "its tool files";
    place.notice(
      `agents.${name}: ${tool} was not searched in ${source}, because this version of the configuration is not trusted. Fix: run \`spanline trust\`, or name the configuration with --config`,
    );
    return [];
  }
  try {
    const own = await Promise.all(toolFiles.map((file) => loadTools(file, place.folder)));
    return [...own.flat(), ...(await listServerTools(config, servers, place))];
  } catch (error) {
    place.notice(`A session would not start: agents.${name}: ${formatThrown(error)}`);
    return [];
  }
}

/** Lists the current tools of the servers. The connections are closed before the evaluation. */
async function listServerTools(
  config: AgentConfig,
  names: readonly string[],
  { folder, root, version, clock, notice, ...place }: ToolsContext,
): Promise<readonly Tool[]> {
  if (names.length === 0) return [];
  const { openMcpServers } = await import("../../tools/mcp/open-mcp-servers.ts");
  const resolvedEnvironment = await resolveVariables(config.environment, place.environment, folder);
  const { environment } = resolvedEnvironment;
  const { servers, secrets } = await resolveMcpServers(config, { folder, environment });
  const opened = await openMcpServers(
    servers.filter(({ name }) => names.includes(name)),
    {
      version,
      clock,
      environment,
      secrets: [...resolvedEnvironment.secrets, ...secrets],
      signal: new AbortController().signal,
      workingDirectory: root,
      report: ({ message }) => notice(message),
    },
  );
  try {
    return opened.tools();
  } finally {
    await opened.close();
  }
}

interface ConfiguredAgentContext extends PolicyCheckContext {
  readonly agent?: string;
  /** The checked tool. */
  readonly tool: string;
  readonly configContext: Pick<ConfigContext, "directory" | "clock" | "environment"> & {
    readonly version: string;
    readonly isTrusted: IsTrusted;
  };
}

interface PolicySource
  extends
    Pick<AgentConfig, "name" | "policy" | "workspace" | "serverNames">,
    Partial<Pick<AgentConfig, "passthrough">> {
  /** The checked tool. Undefined for a policy file. */
  readonly tool?: string;
  /** Tools in addition to the workspace tools. */
  readonly otherTools?: readonly Tool[];
  /** The path of the policy, for messages. */
  readonly path: string;
  /** True if all tools except MCP tools are known here. */
  readonly isComplete: boolean;
}

function createPolicyAgent(source: PolicySource, { notice, ...place }: PolicyCheckContext): Agent {
  const {
    name,
    policy,
    workspace,
    passthrough = {},
    path,
    serverNames: servers,
    isComplete,
  } = source;
  const isEnabled = (tool: string): boolean => workspace?.tools?.includes(tool) ?? true;
  const { askUser, runtimeTools, workers } = passthrough;
  const { root } = place;
  const isFixed = workspace?.root !== undefined;
  const all = workspaceTools({
    ...place,
    root: isFixed ? root : ({ workingDirectory }) => workingDirectory ?? root,
  });
  if (workspace === undefined && WORKSPACE_TOOL_NAMES.includes(source.tool ?? "")) {
    notice(`agents.${name} has no workspace, so the tool ${source.tool} does not exist`);
  }
  const ofWorkspace = workspace === undefined ? [] : all.filter(({ spec }) => isEnabled(spec.name));
  const tools = [...(source.otherTools ?? []), ...ofWorkspace];
  const agent = defineAgent({
    name,
    provider: {
      name: "none",
      injectionPoints: [],
      effectFree: true,
      open: () => ({ id: "", invoke: () => Promise.reject(new SpanlineError("aborted", "None")) }),
    },
    tools,
    workspace: { ...place, isFixed },
    ...omitUndefined({ policy, askUser, runtimeTools, workers }),
  });
  if (policy !== undefined) {
    const names = [...agent.tools.keys()];
    findUnknownTools(policy, path, { names, servers, isComplete }).forEach(notice);
  }
  // Not all tools are loaded here, so `defineAgent` would refuse approval lists with the names of the others. The lists
  // are added afterwards.
  const { approvals } = agent.spec;
  const { allow = [], ...lists } = passthrough.approvals ?? {};
  const facts = {
    ...agent.spec,
    approvals: { ...approvals, ...lists, allow: [...allow, ...approvals.allow] },
  };
  return { ...agent, spec: facts, digest: digestValue(facts) };
}
