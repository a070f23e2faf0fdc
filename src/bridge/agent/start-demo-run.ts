import { emulate } from "../../emulator/emulate-agentcore.ts";
import type { Agent } from "../../session/runtime/agent/agent.ts";
import { createDemoAgent, type DemoOptions } from "./demo-agent.ts";
import { prepareDirectory } from "../owner/data-directory.ts";

/** An agent for one run, and what runs for it on this machine. */
export interface RunnableAgent {
  readonly agent: Agent;
  readonly close: () => Promise<void>;
}

/** The demo agent for one run: its emulator remembers nothing, so that it is in nobody's way. */
export async function startDemoRun(options: DemoOptions): Promise<RunnableAgent> {
  await prepareDirectory(options.directory);
  const emulator = await emulate();
  return { agent: createDemoAgent(emulator, options), close: () => emulator.close() };
}
