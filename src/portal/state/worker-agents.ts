import type { SessionView } from "./session-view.ts";

/** The agents to which a session may delegate, the default first. Empty if the session cannot have workers. */
export function listWorkerAgents({
  agentSpec,
  lineage,
}: Pick<SessionView, "agentSpec" | "lineage">): readonly string[] {
  const workers = agentSpec?.workers;
  if (workers === undefined || (lineage?.depth ?? 0) >= workers.maxDepth) return [];
  return workers.agents.map(({ name }) => name);
}
