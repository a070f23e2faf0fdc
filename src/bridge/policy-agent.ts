import { dirname } from "node:path";
import { SpanlineError } from "../domain/errors.ts";
import { readPolicy } from "../policy/document/read-policy.ts";
import type { Agent } from "../session/agent.ts";
import { workspaceTools } from "../tools/workspace/workspace-tools.ts";
import { filesOf } from "./config/files-of.ts";
import { readConfig, type AgentConfig } from "./config/read-config.ts";
import { readDocument } from "./config/read-document.ts";
import { defineAgent } from "./define-agent.ts";

export interface PolicyPlace {
  readonly root: string;
  readonly protectedFolders: readonly string[];
}

/** The tools of a workspace under the policy of a file, to be judged. Nothing of it can be run. */
export async function policyAgent(file: string, place: PolicyPlace): Promise<Agent> {
  const policy = readPolicy(await readDocument(file));
  return judgedAgent(
    { name: "policy", policy },
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
  return judgedAgent(config, { ...place, protectedFolders });
}

type Judged = Pick<AgentConfig, "name" | "policy" | "workspace"> &
  Partial<Pick<AgentConfig, "rest">>;

function judgedAgent({ name, policy, workspace, rest = {} }: Judged, place: PolicyPlace): Agent {
  const isWanted = (tool: string): boolean => workspace?.tools?.includes(tool) ?? true;
  const agent = defineAgent({
    name,
    provider: {
      name: "none",
      seams: [],
      effectFree: true,
      open: () => ({ id: "", call: () => Promise.reject(new SpanlineError("aborted", "None")) }),
    },
    tools: workspaceTools(place).filter(({ facts }) => isWanted(facts.name)),
    workspace: place,
    ...(policy !== undefined && { policy }),
  });
  // Not all of its tools are here, so that a list may name one that seems to be none.
  const approvals = { ...agent.facts.approvals, ...Object(rest["approvals"]) };
  return { ...agent, facts: { ...agent.facts, approvals } };
}
