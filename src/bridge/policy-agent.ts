import { dirname, resolve } from "node:path";
import type { ApprovalLists } from "../domain/agent-event.ts";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { isObject } from "../domain/json.ts";
import { digestOf, digestOfText } from "../platform/digest.ts";
import { readPolicy } from "../policy/document/read-policy.ts";
import type { Agent } from "../session/agent.ts";
import { serverPart } from "../tools/mcp/model-name.ts";
import type { Tool } from "../tools/tool.ts";
import { WORKSPACE_TOOL_NAMES, workspaceTools } from "../tools/workspace/workspace-tools.ts";
import type { ConfigSurroundings } from "./config/config-surroundings.ts";
import { demoDefaults, hasDemoTools } from "./config/demo-defaults.ts";
import type { IsTrusted } from "./config/expect-trust.ts";
import { filesOf } from "./config/files-of.ts";
import { readConfig, type AgentConfig } from "./config/read-config.ts";
import { documentIn, readDocument } from "./config/read-document.ts";
import { readText } from "./config/read-text.ts";
import { readWorkspace } from "./config/read-workspace.ts";
import { serversOf } from "./config/servers-of.ts";
import { startProblems } from "./config/start-problems.ts";
import { textsAt } from "./config/texts-at.ts";
import { versionOf } from "./config/trusted-configs.ts";
import { unknownTools } from "./config/unknown-tools.ts";
import { withVariables } from "./config/variables.ts";
import { defineAgent } from "./define-agent.ts";
import { loadTools } from "./load-tools.ts";

export interface PolicyPlace {
  /** For a policy of no configuration: where its tools work. */
  readonly root: string;
  readonly protectedFolders: readonly string[];
  /** Something that people should know of the policy. */
  readonly notice: (line: string) => void;
}

/** The tools of a workspace under the policy of a file, to be judged. Nothing of it can be run. */
export async function policyAgent(file: string, place: PolicyPlace): Promise<Agent> {
  const policy = readPolicy(await readDocument(file));
  const workspace = readWorkspace(true, "workspace");
  return judgedAgent(
    { name: "policy", policy, workspace, path: "policy", serverNames: [], isWhole: false },
    { ...place, protectedFolders: [file, ...place.protectedFolders] },
  );
}

/**
 * An agent of a configuration, to be judged: its rules, the tools of its workspace, and what else it takes to find the tool.
 * Code of the configuration runs only for a tool that is not the workspace's, and only where it is trusted.
 */
export async function configuredPolicy(
  file: string,
  { agent: name, tool, around, ...place }: ConfiguredPlace,
): Promise<Agent> {
  const text = await readText(file);
  const read = readConfig(documentIn(text, file));
  const config = read.agents.find((one) => name === undefined || one.name === name);
  if (config === undefined) {
    const known = read.agents.map((one) => one.name).join(", ");
    const message = `There is no agent ${name}; there is ${known}`;
    throw new SpanlineError("invalid_option", message, { details: { path: "agent" } });
  }
  const { notice } = place;
  const folder = dirname(file);
  const own = await filesOf(config, folder);
  const protectedFolders = [file, ...own, ...place.protectedFolders];
  const root = resolve(folder, config.workspace?.root ?? ".");
  (await startProblems(config, { ...around, ...place, file })).forEach(notice);
  const isTrusted = async (): Promise<boolean> => {
    const { digest } = await versionOf(read, { file, digest: digestOfText(text) });
    return around.isTrusted(digest);
  };
  const judged = {
    ...config,
    rest: { ...demoDefaults(config), ...config.rest },
    path: `agents.${config.name}.policy`,
    tool,
    otherTools: await otherTools(config, tool, { ...around, folder, root, notice, isTrusted }),
    isWhole: config.toolFiles.length === 0 && !hasDemoTools(config),
  };
  return judgedAgent(judged, { notice, root, protectedFolders });
}

interface ToolsPlace extends Pick<ConfigSurroundings, "directory" | "clock" | "environment"> {
  readonly version: string;
  /** Of the configuration. */
  readonly folder: string;
  readonly root: string;
  readonly notice: (line: string) => void;
  readonly isTrusted: () => Promise<boolean>;
}

/** The agent's own tools, and those of the MCP server that the name is of; none for a tool of the workspace. */
async function otherTools(
  config: AgentConfig,
  tool: string,
  place: ToolsPlace,
): Promise<readonly Tool[]> {
  const { name, workspace, toolFiles, serverNames } = config;
  if (hasDemoTools(config)) return (await import("./demo-agent.ts")).demoTools(place);
  const isInWorkspace = workspace !== undefined && WORKSPACE_TOOL_NAMES.includes(tool);
  const servers = serverNames.filter((server) => tool.startsWith(`${serverPart(server)}__`));
  if (isInWorkspace || toolFiles.length + servers.length === 0) return [];
  if (!(await place.isTrusted())) {
    const what = servers.length > 0 ? `the MCP server ${servers.join(", ")}` : "its tool files";
    place.notice(
      `agents.${name}: ${tool} is not looked for in ${what}, because this version of the configuration is not trusted. Fix: run \`spanline trust\`, or name it with --config`,
    );
    return [];
  }
  try {
    const own = await Promise.all(toolFiles.map((file) => loadTools(file, place.folder)));
    return [...own.flat(), ...(await serverTools(config, servers, place))];
  } catch (error) {
    place.notice(`A session would not start: agents.${name}: ${thrownMessage(error)}`);
    return [];
  }
}

/** What the servers offer now. They are disconnected before anything is judged. */
async function serverTools(
  config: AgentConfig,
  names: readonly string[],
  { folder, root, version, clock, notice, ...place }: ToolsPlace,
): Promise<readonly Tool[]> {
  if (names.length === 0) return [];
  const { openMcpServers } = await import("../tools/mcp/open-mcp-servers.ts");
  const found = await withVariables(config.environment, place.environment, folder);
  const { environment } = found;
  const { servers, secrets } = await serversOf(config, { folder, environment });
  const opened = await openMcpServers(
    servers.filter(({ name }) => names.includes(name)),
    {
      version,
      clock,
      environment,
      secrets: [...found.secrets, ...secrets],
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

interface ConfiguredPlace extends PolicyPlace {
  readonly agent?: string;
  /** The one that is judged. */
  readonly tool: string;
  readonly around: Pick<ConfigSurroundings, "directory" | "clock" | "environment"> & {
    readonly version: string;
    readonly isTrusted: IsTrusted;
  };
}

interface Judged
  extends
    Pick<AgentConfig, "name" | "policy" | "workspace" | "serverNames">,
    Partial<Pick<AgentConfig, "rest">> {
  /** The one that is judged, where that is known. */
  readonly tool?: string;
  /** Beside those of the workspace. */
  readonly otherTools?: readonly Tool[];
  /** Where its policy stands. */
  readonly path: string;
  /** Whether all of its tools are known here, but for those of MCP servers. */
  readonly isWhole: boolean;
}

function judgedAgent(judged: Judged, { notice, ...place }: PolicyPlace): Agent {
  const { name, policy, workspace, rest = {}, path, serverNames: servers, isWhole } = judged;
  const isWanted = (tool: string): boolean => workspace?.tools?.includes(tool) ?? true;
  const { root } = place;
  const isFixed = workspace?.root !== undefined;
  const all = workspaceTools({
    ...place,
    root: isFixed ? root : ({ workingDirectory }) => workingDirectory ?? root,
  });
  if (workspace === undefined && WORKSPACE_TOOL_NAMES.includes(judged.tool ?? "")) {
    notice(`agents.${name} has no workspace, and so it has no ${judged.tool}`);
  }
  const ofWorkspace =
    workspace === undefined ? [] : all.filter(({ facts }) => isWanted(facts.name));
  const tools = [...(judged.otherTools ?? []), ...ofWorkspace];
  if (policy !== undefined) {
    const names = tools.map(({ facts }) => facts.name);
    unknownTools(policy, path, { names, servers, isWhole }).forEach(notice);
  }
  const agent = defineAgent({
    name,
    provider: {
      name: "none",
      seams: [],
      effectFree: true,
      open: () => ({ id: "", call: () => Promise.reject(new SpanlineError("aborted", "None")) }),
    },
    tools,
    workspace: { ...place, isFixed },
    ...(policy !== undefined && { policy }),
  });
  // Not all of its tools are here, so that a list may name one that seems to be none.
  const facts = { ...agent.facts, approvals: approvalsFrom(rest["approvals"], `agents.${name}`) };
  return { ...agent, facts, digest: digestOf(facts) };
}

function approvalsFrom(value: unknown, path: string): ApprovalLists {
  const given = isObject(value) ? value : {};
  const listAt = (name: string): readonly string[] =>
    textsAt(given[name], `${path}.approvals.${name}`);
  return {
    deny: listAt("deny"),
    ask: listAt("ask"),
    allow: listAt("allow"),
    otherwise: ACTIONS.find((one) => one === given["otherwise"]) ?? "ask",
  };
}

const ACTIONS = ["ask", "allow", "deny"] as const;
