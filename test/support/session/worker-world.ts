import type { AgentSpec, WorkersSpec } from "../../../src/domain/agent-spec.ts";
import type { JsonObject } from "../../../src/data/json.ts";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import { createWorkerTools } from "../../../src/tools/worker-tools.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { createScriptedProvider, wants, type ProviderScript } from "./scripted-provider.ts";
import { createAgent, type AgentParts } from "./session-world.ts";

export interface BossOptions extends Partial<Omit<AgentParts, "provider" | "workers">> {
  readonly workers?: Partial<WorkersSpec>;
  readonly tools?: readonly Tool[];
  readonly others?: Partial<AgentSpec>;
}

/** An agent which delegates to the agent `helper`. */
export function createBoss(script: readonly ProviderScript[], options: BossOptions = {}): Agent {
  const { workers, tools = [], ...rest } = options;
  const agents = workers?.agents ?? [{ name: "helper" }];
  return createAgent({
    name: "boss",
    provider: createScriptedProvider(script),
    tools: [...tools, ...createWorkerTools(agents.map(({ name }) => name))],
    workers: { maxDepth: 3, maxOpen: 8, ...workers, agents },
    ...rest,
  });
}

/** A response which calls `delegate`. */
export function delegates(input: JsonObject, id = "d1"): ProviderScript {
  return wants({ id, name: "delegate", input });
}
