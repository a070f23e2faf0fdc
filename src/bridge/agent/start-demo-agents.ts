import type { SteadyClock } from "../../platform/clock.ts";
import type { StartedAgents } from "../bridge-options.ts";

/**
 * Starts the agents used without a configuration: the demo agent with its own emulator. For a single run the emulator
 * works in memory, because a running `spanline up` may use its folder.
 */
export async function startDemoAgents(
  directory: string,
  clock: SteadyClock,
  isSingleRun = false,
): Promise<StartedAgents> {
  if (isSingleRun) {
    const { startDemoRun } = await import("./start-demo-run.ts");
    const { agent, close } = await startDemoRun({ directory, clock });
    return { agents: [agent], close };
  }
  const { startDemoAgent } = await import("./demo-agent.ts");
  const { agent, emulator } = await startDemoAgent(directory, clock);
  return { agents: [agent], close: () => emulator.close() };
}
