import type { SteadyClock } from "../../platform/clock.ts";
import type { StartedAgents } from "../bridge-options.ts";

/** What there is when nobody configured anything: the demo agent, on an emulator of its own. */
export async function startDemoAgents(
  directory: string,
  clock: SteadyClock,
): Promise<StartedAgents> {
  const { startDemoAgent } = await import("./demo-agent.ts");
  const { agent, emulator } = await startDemoAgent(directory, clock);
  return { agents: [agent], close: () => emulator.close() };
}
