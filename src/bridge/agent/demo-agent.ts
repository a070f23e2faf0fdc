import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import type { Emulator } from "../../emulator/start-emulator.ts";
import { emulate } from "../../emulator/emulate-agentcore.ts";
import { TEST_CREDENTIALS } from "../../emulator/emulator-options.ts";
import { type Clock, formatHttpTime } from "../../platform/clock.ts";
import { makeFolder } from "../../platform/files/private-files.ts";
import { harnessProvider } from "../../providers/agentcore/harness-provider.ts";
import type { Provider } from "../../providers/provider.ts";
import type { Agent } from "../../session/runtime/agent/agent.ts";
import { defineTool } from "../../tools/define-tool.ts";
import type { Tool } from "../../tools/tool.ts";
import { DEMO_SETTINGS } from "../configured/demo-settings.ts";
import type { StartedProvider } from "../configured/config-context.ts";
import { defineAgent } from "./define-agent.ts";

export interface DemoAgent {
  readonly agent: Agent;
  readonly emulator: Emulator;
}

/** Starts the demo agent for first steps: a harness of the emulator with two client tools. */
export async function startDemoAgent(directory: string, clock: Clock): Promise<DemoAgent> {
  const emulator = await emulate({ dataDirectory: join(directory, "emulator") });
  return { agent: createDemoAgent(emulator, { directory, clock }), emulator };
}

/**
 * Starts the demo provider for agents of a configuration. The emulator stores its sessions in `dataDirectory`;
 * undefined keeps them in memory.
 */
export async function startDemoProvider(
  dataDirectory: string | undefined,
  place: DemoToolsOptions,
): Promise<StartedProvider> {
  const emulator = await emulate(dataDirectory === undefined ? {} : { dataDirectory });
  const tools = createDemoTools(place);
  return { provider: createDemoProvider(emulator), tools, close: () => emulator.close() };
}

function createDemoProvider({ demoArn, url }: Emulator): Provider {
  return harnessProvider({
    harnessArn: demoArn,
    endpoint: url,
    credentials: TEST_CREDENTIALS,
    // The demo harness has no deployed tools, so reading them would only delay the first turn.
    offeredTools: "replace",
  });
}

interface DemoToolsOptions {
  /** Folder for the saved notes. */
  readonly directory: string;
  readonly clock: Clock;
}

export interface DemoOptions extends DemoToolsOptions {
  /** Tools in addition to the demo tools. */
  readonly tools?: readonly Tool[];
}

export function createDemoAgent(emulator: Emulator, { tools = [], ...place }: DemoOptions): Agent {
  return defineAgent({
    ...DEMO_SETTINGS,
    name: "demo",
    provider: createDemoProvider(emulator),
    tools: [...createDemoTools(place), ...tools],
  });
}

export function createDemoTools({ directory, clock }: DemoToolsOptions): readonly Tool[] {
  return [createSaveNoteTool(directory), createTellTimeTool(clock)];
}

function createSaveNoteTool(directory: string): Tool {
  const file = join(directory, "notes.txt");
  return defineTool({
    name: "save_note",
    description: "Saves a note to a file on this machine",
    input: {
      type: "object",
      properties: { text: { type: "string", description: "What to write down" } },
      required: ["text"],
    },
    async run({ text }) {
      await makeFolder(directory);
      await appendFile(file, `${typeof text === "string" ? text : ""}\n`, { mode: 0o600 });
      return `Saved in ${file}`;
    },
  });
}

function createTellTimeTool(clock: Clock): Tool {
  return defineTool({
    name: "tell_time",
    description: "Tells the time and the date of this machine",
    input: { type: "object", properties: {} },
    idempotent: true,
    run: () => formatHttpTime(clock.now()),
  });
}
