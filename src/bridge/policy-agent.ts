import { dirname } from "node:path";
import { SpanlineError } from "../domain/errors.ts";
import { readPolicy } from "../policy/document/read-policy.ts";
import type { Agent } from "../session/agent.ts";
import { workspaceTools } from "../tools/workspace/workspace-tools.ts";
import { filesOf } from "./config/files-of.ts";
import { readConfig, type AgentConfig } from "./config/read-config.ts";
import { readDocument } from "./config/read-document.ts";
import { unknownTools } from "./config/unknown-tools.ts";
import { defineAgent } from "./define-agent.ts";

export interface PolicyPlace {
  readonly root: string;
  readonly protectedFolders: readonly string[];
  /** Something that people should know of the policy. */
  readonly notice: (line: string) => void;
}

/** The tools of a workspace under the policy of a file, to be judged. Nothing of it can be run. */
export async function policyAgent(file: string, place: PolicyPlace): Promise<Agent> {
  const policy = readPolicy(await readDocument(file));
  return judgedAgent(
    { name: "policy", policy, path: "policy", serverNames: [], isWhole: false },
    { ...place, protectedFolders: [file, ...place.protectedFolders] },
  );
}

/** An agent of a configuration, to be judged: its rules and the tools of its workspace. None of its code is run. */
export async function configuredPolicy(
  file: string,
  { agent: name, ...place }: PolicyPlace & { readonly agent?: string },
): Promise<Agent> {
  const { agents } = readConfig(await readDocument(file));
  const config = agents.find((one) => name === undefined || one.name === name);
  if (config === undefined) {
    const known = agents.map((one) => one.name).join(", ");
    const message = `There is no agent ${name}; there is ${known}`;
    throw new SpanlineError("invalid_option", message, { details: { path: "agent" } });
  }
  const protectedFolders = [file, ...filesOf(config, dirname(file)), ...place.protectedFolders];
  const judged = {
    ...config,
    path: `agents.${config.name}.policy`,
    isWhole: config.toolFiles.length === 0,
  };
  return judgedAgent(judged, { ...place, protectedFolders });
}

interface Judged
  extends
    Pick<AgentConfig, "name" | "policy" | "workspace" | "serverNames">,
    Partial<Pick<AgentConfig, "rest">> {
  /** Where its policy stands. */
  readonly path: string;
  /** Whether all of its tools are known here, but for those of MCP servers. */
  readonly isWhole: boolean;
}

function judgedAgent(judged: Judged, { notice, ...place }: PolicyPlace): Agent {
  const { name, policy, workspace, rest = {}, path, serverNames: servers, isWhole } = judged;
  const isWanted = (tool: string): boolean => workspace?.tools?.includes(tool) ?? true;
  const tools = workspaceTools(place).filter(({ facts }) => isWanted(facts.name));
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
    workspace: place,
    ...(policy !== undefined && { policy }),
  });
  // Not all of its tools are here, so that a list may name one that seems to be none.
  const approvals = { ...agent.facts.approvals, ...Object(rest["approvals"]) };
  return { ...agent, facts: { ...agent.facts, approvals } };
}
