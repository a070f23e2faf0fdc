import type { AgentEvent } from "../../src/domain/agent-event.ts";
import type { PathFact } from "../../src/domain/policy-decision.ts";
import type { ToolTraits } from "../../src/domain/tool-traits.ts";
import type { CallInput } from "../../src/providers/provider.ts";
import type { CallToExamine } from "../../src/tools/tool.ts";
import { policyOf, type RuleLine } from "./policy.ts";
import { says, scriptedProvider, wants } from "./scripted-provider.ts";
import { agentOf, tool, type AgentParts, type World } from "./session-world.ts";

export const never = (): Promise<never> => new Promise(() => undefined);

export const TRAITS: ToolTraits = { kind: "edit", sideEffect: "workspace_write", paths: ["path"] };
export const CALL = { id: "c1", name: "write", input: { path: "tea.md" } };

export function inside(path: string): PathFact {
  const workspacePath = path;
  return { argument: "path", input: path, place: "inside", workspacePath, hostPath: `/w/${path}` };
}

/** An agent that writes one file, and what its tool and whoever looks at its paths were given. */
export function writing(rule: RuleLine[1], parts: Partial<AgentParts> = {}) {
  const provider = scriptedProvider([wants(CALL), says("Well.")]);
  const ran: unknown[] = [];
  const looked: CallToExamine[] = [];
  const write = tool({ name: "write", traits: TRAITS }, (input, { paths }) => {
    ran.push({ input, paths });
    return "written";
  });
  const examine = async (call: CallToExamine) => {
    looked.push(call);
    return { paths: call.paths.map(({ input }) => inside(input)) };
  };
  const policy = policyOf([["write", rule]]);
  const agent = (changed: Partial<AgentParts> = {}) =>
    agentOf({ provider, tools: [write], policy, examine, ...parts, ...changed });
  return { provider, ran, looked, write, agent };
}

export function resultsIn(input: CallInput | undefined) {
  return input?.type === "results" ? input.results : [];
}

/** From behind the first event of a type to the end of the first call. */
export async function typesSince(
  world: World,
  first: AgentEvent["type"],
): Promise<readonly string[]> {
  const types = (await world.log()).map(({ event }) => event.type);
  return types.slice(types.indexOf(first) + 1, types.indexOf("tool.finished") + 1);
}
