import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import type { PathFact } from "../../../src/domain/policy/policy-decision.ts";
import type { ToolTraits } from "../../../src/domain/tools/tool-traits.ts";
import type { InvocationInput } from "../../../src/providers/provider.ts";
import type { ToolCallToExamine } from "../../../src/tools/tool.ts";
import { createPolicy, type RuleLine } from "./create-policy.ts";
import { says, createScriptedProvider, wants } from "./scripted-provider.ts";
import { createAgent, createTool, type AgentParts, type SessionWorld } from "./session-world.ts";

export const neverResolves = (): Promise<never> => new Promise(() => undefined);

export const WRITE_TRAITS: ToolTraits = {
  kind: "edit",
  sideEffect: "workspace_write",
  paths: ["path"],
};
export const WRITE_CALL = { id: "c1", name: "write", input: { path: "tea.md" } };

export function createInsidePath(path: string): PathFact {
  const workspacePath = path;
  return {
    argument: "path",
    input: path,
    location: "inside",
    workspacePath,
    hostPath: `/w/${path}`,
  };
}

/** An agent that writes a file. Records the inputs of its tool and of its path resolution. */
export function createWritingAgent(rule: RuleLine[1], parts: Partial<AgentParts> = {}) {
  const provider = createScriptedProvider([wants(WRITE_CALL), says("Well.")]);
  const ran: unknown[] = [];
  const looked: ToolCallToExamine[] = [];
  const write = createTool({ name: "write", traits: WRITE_TRAITS }, (input, { paths }) => {
    ran.push({ input, paths });
    return "written";
  });
  const examine = async (call: ToolCallToExamine) => {
    looked.push(call);
    return { paths: call.paths.map(({ input }) => createInsidePath(input)) };
  };
  const policy = createPolicy([["write", rule]]);
  const agent = (changed: Partial<AgentParts> = {}) =>
    createAgent({ provider, tools: [write], policy, examine, ...parts, ...changed });
  return { provider, ran, looked, write, agent };
}

export function readResults(input: InvocationInput | undefined) {
  return input?.type === "results" ? input.results : [];
}

/** The event types after the first event of a type, up to the end of the first tool call. */
export async function listTypesSince(
  world: SessionWorld,
  first: SessionEvent["type"],
): Promise<readonly string[]> {
  const types = (await world.readLog()).map(({ event }) => event.type);
  return types.slice(types.indexOf(first) + 1, types.indexOf("tool.finished") + 1);
}
