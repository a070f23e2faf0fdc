import type { SteadyClock } from "../../platform/clock.ts";
import type { StartedAgents } from "../bridge-options.ts";

/** Starts the agents used without a configuration: the demo agent with its own emulator. */
export async function startDemoAgents(
  directory: string,
  clock: SteadyClock,
): Promise<StartedAgents> {
  const { startDemoAgent } = await import("./demo-agent.ts");
  const { agent, emulator } = await startDemoAgent(directory, clock);
  return { agents: [agent], close: () => emulator.close() };
}
