import { dirname, resolve } from "node:path";
import type { ApprovalLists } from "../domain/agent-event.ts";
import { SpanlineError } from "../domain/errors.ts";
import { isObject } from "../domain/json.ts";
import { digestOf } from "../platform/digest.ts";
import { readPolicy } from "../policy/document/read-policy.ts";
import type { Agent } from "../session/agent.ts";
import { WORKSPACE_TOOL_NAMES, workspaceTools } from "../tools/workspace/workspace-tools.ts";
import type { ConfigSurroundings } from "./config/config-surroundings.ts";
import { demoDefaults, hasDemoTools } from "./config/demo-defaults.ts";
import { filesOf } from "./config/files-of.ts";
import { readConfig, type AgentConfig } from "./config/read-config.ts";
import { readDocument } from "./config/read-document.ts";
import { readWorkspace } from "./config/read-workspace.ts";
import { startProblems } from "./config/start-problems.ts";
import { textsAt } from "./config/texts-at.ts";
import { unknownTools } from "./config/unknown-tools.ts";
import { defineAgent } from "./define-agent.ts";

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

/** An agent of a configuration, to be judged: its rules and the tools of its workspace. None of its code is run. */
export async function configuredPolicy(
  file: string,
  { agent: name, tool, around, ...place }: ConfiguredPlace,
): Promise<Agent> {
  const { agents } = readConfig(await readDocument(file));
  const config = agents.find((one) => name === undefined || one.name === name);
  if (config === undefined) {
    const known = agents.map((one) => one.name).join(", ");
    const message = `There is no agent ${name}; there is ${known}`;
    throw new SpanlineError("invalid_option", message, { details: { path: "agent" } });
  }
  const { notice } = place;
  const folder = dirname(file);
  const own = await filesOf(config, folder);
  const protectedFolders = [file, ...own, ...place.protectedFolders];
  const root = resolve(folder, config.workspace?.root ?? ".");
  (await startProblems(config, { ...around, ...place, file })).forEach(notice);
  const judged = {
    ...config,
    rest: { ...demoDefaults(config), ...config.rest },
    path: `agents.${config.name}.policy`,
    tool,
    isWhole: config.toolFiles.length === 0 && !hasDemoTools(config),
  };
  return judgedAgent(judged, { notice, root, protectedFolders });
}

interface ConfiguredPlace extends PolicyPlace {
  readonly agent?: string;
  /** The one that is judged. */
  readonly tool: string;
  readonly around: Pick<ConfigSurroundings, "directory" | "clock" | "environment">;
}

interface Judged
  extends
    Pick<AgentConfig, "name" | "policy" | "workspace" | "serverNames">,
    Partial<Pick<AgentConfig, "rest">> {
  /** The one that is judged, where that is known. */
  readonly tool?: string;
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
  const tools = workspace === undefined ? [] : all.filter(({ facts }) => isWanted(facts.name));
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
