import { emulate } from "../../emulator/emulate-agentcore.ts";
import type { Agent } from "../../session/runtime/agent/agent.ts";
import { createDemoAgent, type DemoOptions } from "./demo-agent.ts";
import { prepareDirectory } from "../owner/data-directory.ts";

/** An agent for one run. `close` ends the processes and servers started for the agent. */
export interface RunnableAgent {
  readonly agent: Agent;
  readonly close: () => Promise<void>;
}

/**
 * Starts the demo agent for one run. The emulator works in memory, which avoids a conflict with the emulator of a
 * running `spanline up`.
 */
export async function startDemoRun(options: DemoOptions): Promise<RunnableAgent> {
  await prepareDirectory(options.directory);
  const emulator = await emulate();
  return { agent: createDemoAgent(emulator, options), close: () => emulator.close() };
}
