import { realpath } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import type { AgentDefinition, WorkspaceDefinition } from "../../config/agent/agent-definition.ts";
import { checkDefinition } from "../../config/agent/check-definition.ts";
import { mergeCaps } from "../../config/agent/turn-caps.ts";
import type { AgentCommand } from "../../domain/slash-commands.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { DEFAULT_QUESTION_SECONDS } from "../../domain/question.ts";
import { WATCH_FILES_TOOL } from "../../domain/outputs/file-watch.ts";
import { listRuntimeTools } from "../../domain/tools/runtime-tools.ts";
import type { AgentSpec, TurnCaps } from "../../domain/agent-spec.ts";
import { createTextRedactor } from "../../policy/redact-text.ts";
import { digestValue } from "../../platform/digest.ts";
import type { Agent, AgentHandle, OpenAgentOptions } from "../../session/runtime/agent/agent.ts";
import { createAskUserTool } from "../../tools/ask-user-tool.ts";
import { createWorkerTools } from "../../tools/worker-tools.ts";
import { DEFAULT_MAX_DEPTH, DEFAULT_MAX_OPEN } from "../../domain/workers/worker.ts";
import { createRuntimeTools } from "../../tools/runtime/runtime-tools.ts";
import type { Tool } from "../../tools/tool.ts";
import { digestFiles } from "../../tools/workspace/digest-files.ts";
import { examineToolCall } from "../../tools/workspace/examine-tool-call.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { resolveServerTimes, type McpConnection } from "../../tools/mcp/mcp-server-settings.ts";
import type { McpServers } from "../../tools/mcp/open-mcp-servers.ts";

const DEFAULT_CAPS: TurnCaps = {
  steps: 50,
  seconds: 3600,
  tokens: null,
  toolCalls: 200,
  parallelTools: 8,
};

/** Creates an agent for sessions from a definition. Throws `invalid_option` for invalid or misspelled settings. */
export function defineAgent(definition: AgentDefinition): Agent {
  checkDefinition(definition);
  const { provider, tools: appTools = [], mcp, askUser = false, runtimeTools } = definition;
  const { workers } = createWorkersSpec(definition);
  const tools = [
    ...appTools,
    ...(askUser === false ? [] : [createAskUserTool()]),
    ...(workers === undefined ? [] : createWorkerTools(workers.agents.map(({ name }) => name))),
    // The workspace tools contain `update_plan`, too.
    ...createRuntimeTools(listRuntimeTools(runtimeTools)).filter(
      ({ spec: { name } }) => !appTools.some((tool) => tool.spec.name === name),
    ),
  ];
  // Opening sends no request, but reports invalid settings of the provider now.
  const canStop = provider.open().stop !== undefined;
  const withTools = (serverTools: readonly Tool[]): Agent => {
    // A server chooses the names of its tools. A name already used by the agent's own tools is ignored, so a server
    // cannot take over their tool calls.
    const usedNames = new Set(tools.map(({ spec }) => spec.name));
    const all = [...tools, ...serverTools.filter(({ spec: facts }) => !usedNames.has(facts.name))];
    return createAgent(all, { definition, canStop });
  };
  if (mcp === undefined) return withTools([]);
  return { ...withTools([]), open: (place) => openAgentWithMcpServers(mcp, place, withTools) };
}

interface CheckedDefinition {
  readonly definition: AgentDefinition;
  readonly canStop: boolean;
}

function createAgent(tools: readonly Tool[], checkedDefinition: CheckedDefinition): Agent {
  const { provider, workspace, projection } = checkedDefinition.definition;
  const redactText = projection === undefined ? undefined : createTextRedactor(projection);
  const facts = createAgentSpec(tools, checkedDefinition);
  return {
    spec: facts,
    digest: digestValue(facts),
    provider,
    tools: new Map(tools.map((tool) => [tool.spec.name, tool])),
    ...omitUndefined({ redactText }),
    ...(workspace !== undefined && {
      resolvePaths: createExaminer(workspace),
      digestFiles: createDigester(workspace),
      watchFiles: createWatcher(workspace),
      resolveFolder: createFolderResolver(workspace),
    }),
  };
}

/** Resolves paths in the folder named by the session, or in the agent's folder. */
function createExaminer({
  root,
  isFixed = false,
  protectedFolders = [],
}: WorkspaceDefinition): NonNullable<Agent["resolvePaths"]> {
  return (call) => {
    const { workingDirectory, folders = [] } = isFixed ? {} : call;
    return examineToolCall(call, { root: workingDirectory ?? root, folders, protectedFolders });
  };
}

function createDigester({
  root,
  isFixed = false,
  protectedFolders = [],
}: WorkspaceDefinition): NonNullable<Agent["digestFiles"]> {
  return (paths, location) => {
    const { workingDirectory = root, folders } = isFixed ? { folders: [] } : location;
    return digestFiles(paths, { root: workingDirectory, folders, protectedFolders });
  };
}

function createWatcher({
  root,
  isFixed = false,
  protectedFolders = [],
}: WorkspaceDefinition): NonNullable<Agent["watchFiles"]> {
  return async (request, location, watcher) => {
    const { workingDirectory = root, folders } = isFixed ? { folders: [] } : location;
    // Loaded with the first subscription: few sessions watch files.
    const { watchWorkspace } = await import("../../tools/workspace/watch/watch-workspace.ts");
    await watchWorkspace(request, { root: workingDirectory, folders, protectedFolders }, watcher);
  };
}

function createAgentSpec(
  tools: readonly Tool[],
  { definition, canStop }: CheckedDefinition,
): AgentSpec {
  const { onLost = "ask", policy, mutationScope, workspace, resultsSeconds, images } = definition;
  const { contextTokens, commands, invalidToolInput, reminders, budgets } = definition;
  const { compaction, projection } = definition;
  const { name, provider, caps, approvalSeconds = 3600, terminalTool } = definition;
  const {
    deny = [],
    ask = [],
    allow = [],
    default: defaultAction = "ask",
  } = definition.approvals ?? {};
  const { idleSeconds, lifetimeSeconds } = definition.upstream ?? {};
  return {
    name,
    provider: {
      name: provider.name,
      injectionPoints: provider.injectionPoints,
      effectFree: provider.effectFree,
      canStop,
      ...(provider.keepsHistory === false && { keepsHistory: false }),
      ...omitUndefined({ capabilities: provider.capabilities }),
      ...(idleSeconds !== undefined && { idleMs: idleSeconds * 1000 }),
      ...(lifetimeSeconds !== undefined && { lifetimeMs: lifetimeSeconds * 1000 }),
    },
    tools: tools.map((tool) => tool.spec),
    approvals: {
      deny,
      ask,
      allow: [...allow, ...listRuntimeTools(definition.runtimeTools).filter(isHarmless)],
      default: defaultAction,
    },
    ...omitUndefined({ policy, mutationScope }),
    ...(workspace !== undefined && { workspace: workspace.root }),
    caps: mergeCaps(DEFAULT_CAPS, caps),
    ...omitUndefined({ budgets }),
    onLost,
    settle: definition.settle ?? "wait",
    approvalMs: approvalSeconds * 1000,
    ...createAskUserSpec(definition.askUser),
    ...createWorkersSpec(definition),
    ...(resultsSeconds !== undefined && { resultsMs: resultsSeconds * 1000 }),
    ...omitUndefined({ invalidToolInput, images, contextTokens, reminders }),
    ...omitUndefined({ compaction, projection }),
    ...(commands !== undefined && { commands: listCommands(commands) }),
    ...(terminalTool !== undefined && {
      terminalTool: { name: terminalTool.name, maxReprompts: terminalTool.maxReprompts ?? 2 },
    }),
    ...createDaemonSpec(definition.daemon),
  };
}

/** Watching files reads the workspace, so the rules decide about it as about any tool. */
function isHarmless(name: string): boolean {
  return name !== WATCH_FILES_TOOL;
}

function createAskUserSpec(
  askUser: AgentDefinition["askUser"] = false,
): Pick<AgentSpec, "askUser"> {
  if (askUser === false) return {};
  const { waitSeconds = DEFAULT_QUESTION_SECONDS } = askUser === true ? {} : askUser;
  return { askUser: { waitMs: waitSeconds * 1000 } };
}

function createWorkersSpec({
  name,
  workers = false,
}: Pick<AgentDefinition, "name" | "workers">): Pick<AgentSpec, "workers"> {
  if (workers === false) return {};
  const { agents = [name], maxDepth, maxOpen, budget } = workers === true ? {} : workers;
  return {
    workers: {
      agents: agents.map((agent) => ({ name: agent })),
      maxDepth: maxDepth ?? DEFAULT_MAX_DEPTH,
      maxOpen: maxOpen ?? DEFAULT_MAX_OPEN,
      ...omitUndefined({ budget }),
    },
  };
}

function createDaemonSpec(daemon: AgentDefinition["daemon"]): Pick<AgentSpec, "daemon"> {
  if (daemon === undefined || daemon === false) return {};
  const { wakeSeconds, watchdogAttempts } = daemon === true ? {} : daemon;
  const wakeIntervalMs = wakeSeconds === undefined ? undefined : wakeSeconds * 1000;
  return { daemon: omitUndefined({ wakeIntervalMs, watchdogAttempts }) };
}

function listCommands(commands: NonNullable<AgentDefinition["commands"]>): readonly AgentCommand[] {
  return Object.entries(commands).map(([name, { description, hint, prompt }]) => ({
    name,
    description,
    ...omitUndefined({ hint }),
    prompt,
  }));
}

/**
 * Resolves the folder of a session. In a fixed workspace the folder is always the root, even if the client opened a
 * subfolder, so path rules mean the same for every client. Throws `invalid_option` for a folder outside.
 */
function createFolderResolver({
  root,
  isFixed = false,
}: WorkspaceDefinition): NonNullable<Agent["resolveFolder"]> {
  return async (named = root) => {
    if (!isFixed || named === root || (await isWithinFolder(named, root)))
      return isFixed ? root : named;
    const message = `workingDirectory is ${named}, which is outside the agent's workspace ${root}. Fix: open the workspace or a folder in it`;
    throw new SpanlineError("invalid_option", message, { details: { path: "workingDirectory" } });
  };
}

/** Follows symlinks. Returns false if a folder does not exist. */
async function isWithinFolder(folder: string, root: string): Promise<boolean> {
  const places = await Promise.all([realpath(root), realpath(folder)]).catch(() => undefined);
  if (places === undefined) return false;
  const relativePath = relative(...places);
  return relativePath !== ".." && !relativePath.startsWith("../") && !isAbsolute(relativePath);
}

/**
 * Connects to the MCP servers for one session. `withTools` creates the agent with the tools currently offered by the
 * servers.
 */
async function openAgentWithMcpServers(
  { servers, ...work }: McpConnection,
  place: OpenAgentOptions,
  withTools: (tools: readonly Tool[]) => Agent,
): Promise<AgentHandle> {
  // The MCP library is loaded only for agents with MCP servers.
  const { openMcpServers } = await import("../../tools/mcp/open-mcp-servers.ts");
  const { workingDirectory } = place;
  const connected: { servers?: McpServers } = {};
  const { signal } = place;
  const opening = new AbortController();
  const abort = (): void => opening.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted === true) abort();
  const opened = await openMcpServers(servers, {
    ...work,
    signal: opening.signal,
    ...omitUndefined({ workingDirectory }),
    onToolsChanged: () => {
      // Changes during the start need no notification: `opened.tools()` below includes them.
      if (connected.servers !== undefined) place.onChange(withTools(connected.servers.tools()));
    },
  });
  // From here on only the session's `close` ends the servers, not the signal.
  signal?.removeEventListener("abort", abort);
  if (signal?.aborted === true) {
    await opened.close();
    throw signal.reason;
  }
  connected.servers = opened;
  const idleMs = Math.max(...servers.map((server) => resolveServerTimes(server).idleMs));
  return { agent: withTools(opened.tools()), idleMs, close: opened.close };
}
