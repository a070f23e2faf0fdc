import type { WorkersSpec } from "../../../domain/agent-spec.ts";
import { readWorkerAudit } from "../../../domain/workers/worker.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";
import { digestValue } from "../../../platform/digest.ts";
import type { Agent } from "./agent.ts";

/**
 * Adds the mutation scope and the approval rules of other agents to agents which delegate, so the session core knows the
 * mutation record of a worker before its session exists.
 */
export function linkWorkerAgents(agents: readonly Agent[]): readonly Agent[] {
  const link = (agent: Agent): Agent => {
    const { workers } = agent.spec;
    return workers === undefined ? agent : withWorkers(agent, describeAgents(agent.spec.name, workers, agents));
  };
  return agents.map((agent) => {
    const { open } = agent;
    if (open === undefined || agent.spec.workers === undefined) return link(agent);
    return {
      ...link(agent),
      open: async (place) => {
        const onChange = (changed: Agent): void => place.onChange(link(changed));
        const opened = await open({ ...place, onChange });
        return { ...opened, agent: link(opened.agent) };
      },
    };
  });
}

function describeAgents(
  owner: string,
  workers: WorkersSpec,
  agents: readonly Agent[],
): WorkersSpec {
  const described = workers.agents.map(({ name }) => {
    const spec = agents.find((agent) => agent.spec.name === name)?.spec;
    if (spec === undefined) throw createUnknownAgentError(name, owner, agents);
    return { name, ...omitUndefined({ audit: readWorkerAudit(spec) }) };
  });
  return { ...workers, agents: described };
}

function createUnknownAgentError(
  name: string,
  owner: string,
  agents: readonly Agent[],
): SpanlineError {
  const names = agents.map(({ spec }) => spec.name);
  const message = formatUnknownName("Agent", name, { names, where: `for workers of agent "${owner}"` });
  return new SpanlineError("invalid_option", message, { details: { path: "workers.agents" } });
}

function withWorkers(agent: Agent, workers: WorkersSpec): Agent {
  const spec = { ...agent.spec, workers };
  return { ...agent, spec, digest: digestValue(spec) };
}
