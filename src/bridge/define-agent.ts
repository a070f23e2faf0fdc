import type { AgentCommand } from "../domain/agent-command.ts";
import type { AgentFacts, TurnCaps } from "../domain/agent-event.ts";
import { digestOf } from "../platform/digest.ts";
import type { Agent } from "../session/agent.ts";
import type { Tool } from "../tools/tool.ts";
import { examineCall } from "../tools/workspace/examine-call.ts";
import type { AgentDefinition, WorkspacePlace } from "./agent-definition.ts";
import { withCaps } from "./check-caps.ts";
import { checkDefinition } from "./check-definition.ts";
import { folderIn } from "./fixed-folder.ts";
import { withMcpServers } from "./with-mcp-servers.ts";

const DEFAULT_CAPS: TurnCaps = {
  steps: 50,
  seconds: 3600,
  tokens: null,
  toolCalls: 200,
  parallelTools: 8,
};

/** An agent that sessions can be opened with. What cannot work, or is misspelt, is refused here. */
export function defineAgent(definition: AgentDefinition): Agent {
  checkDefinition(definition);
  const { provider, tools = [], mcp } = definition;
  // Opening sends nothing, and what the provider's own settings forbid is said now.
  const canStop = provider.open().stop !== undefined;
  const withTools = (others: readonly Tool[]): Agent => {
    // A server may name its tools as it likes, and nobody gets another's call by it.
    const taken = new Set(tools.map(({ facts }) => facts.name));
    const all = [...tools, ...others.filter(({ facts }) => !taken.has(facts.name))];
    return agentWith(all, { definition, canStop });
  };
  if (mcp === undefined) return withTools([]);
  return { ...withTools([]), open: (place) => withMcpServers(mcp, place, withTools) };
}

interface Checked {
  readonly definition: AgentDefinition;
  readonly canStop: boolean;
}

function agentWith(tools: readonly Tool[], checked: Checked): Agent {
  const { provider, workspace } = checked.definition;
  const facts = factsOf(tools, checked);
  return {
    facts,
    digest: digestOf(facts),
    provider,
    tools: new Map(tools.map((tool) => [tool.facts.name, tool])),
    ...(workspace !== undefined && {
      examine: examinerIn(workspace),
      folderFor: folderIn(workspace),
    }),
  };
}

/** A session works in the folder that it named, or in the agent's. */
function examinerIn({
  root,
  isFixed = false,
  protectedFolders = [],
}: WorkspacePlace): NonNullable<Agent["examine"]> {
  return (call) => {
    const { workingDirectory, folders = [] } = isFixed ? {} : call;
    return examineCall(call, { root: workingDirectory ?? root, folders, protectedFolders });
  };
}

function factsOf(tools: readonly Tool[], { definition, canStop }: Checked): AgentFacts {
  const { onLost = "ask", policy, mutationScope, workspace, resultsSeconds, images } = definition;
  const { contextTokens, commands, invalidToolInput } = definition;
  const { name, provider, caps, approvalSeconds = 3600, terminalTool } = definition;
  const { deny = [], ask = [], allow = [], otherwise = "ask" } = definition.approvals ?? {};
  const { idleSeconds, lifetimeSeconds } = definition.upstream ?? {};
  return {
    name,
    provider: {
      name: provider.name,
      seams: provider.seams,
      effectFree: provider.effectFree,
      canStop,
      ...(provider.keepsHistory === false && { keepsHistory: false }),
      ...(provider.takes !== undefined && { takes: provider.takes }),
      ...(idleSeconds !== undefined && { idleMs: idleSeconds * 1000 }),
      ...(lifetimeSeconds !== undefined && { lifetimeMs: lifetimeSeconds * 1000 }),
    },
    tools: tools.map((tool) => tool.facts),
    approvals: { deny, ask, allow, otherwise },
    ...(policy !== undefined && { policy }),
    ...(mutationScope !== undefined && { mutationScope }),
    ...(workspace !== undefined && { workspace: workspace.root }),
    caps: withCaps(DEFAULT_CAPS, caps),
    onLost,
    settle: definition.settle ?? "wait",
    approvalMs: approvalSeconds * 1000,
    ...(resultsSeconds !== undefined && { resultsMs: resultsSeconds * 1000 }),
    ...(invalidToolInput !== undefined && { invalidToolInput }),
    ...(images !== undefined && { images }),
    ...(contextTokens !== undefined && { contextTokens }),
    ...(commands !== undefined && { commands: commandsIn(commands) }),
    ...(terminalTool !== undefined && {
      terminalTool: { name: terminalTool.name, maxReprompts: terminalTool.maxReprompts ?? 2 },
    }),
  };
}

function commandsIn(given: NonNullable<AgentDefinition["commands"]>): readonly AgentCommand[] {
  return Object.entries(given).map(([name, { description, hint, prompt }]) => ({
    name,
    description,
    ...(hint !== undefined && { hint }),
    prompt,
  }));
}
