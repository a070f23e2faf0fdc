import { defineAgent } from "../bridge/define-agent.ts";
import { loadTools } from "../bridge/load-tools.ts";
import { providerFor } from "../bridge/provider-for.ts";
import type { RunnableAgent } from "../bridge/start-demo-run.ts";
import { SpanlineError } from "../domain/errors.ts";
import { oneLine } from "../inspect/style.ts";
import { systemClock } from "../platform/clock.ts";
import type { Terminal } from "../platform/terminal.ts";
import { agentFrom, type AgentFlags } from "./agent-from.ts";
import { agentsFrom, configFrom, type ConfigFlags } from "./agents-from.ts";
import { connectionFrom } from "./connection.ts";
import { dataDirectory } from "./data-directory.ts";
import { limitsFrom, type LimitFlags } from "./limits-from.ts";

export interface RunAgentFlags extends AgentFlags, LimitFlags, ConfigFlags {
  readonly agent?: string;
  readonly user?: string;
  readonly systemPrompt?: string;
  readonly model?: string;
  readonly tools?: string;
  readonly dataDir?: string;
}

export interface RunSurroundings {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** The agent that the flags mean, ready to be run. */
export async function runAgentFrom(
  flags: RunAgentFlags,
  surroundings: RunSurroundings,
): Promise<RunnableAgent> {
  const { harness, runtime, tools: file } = flags;
  if (harness === undefined && runtime === undefined) refuseStray(flags);
  const tools = file === undefined ? [] : await loadTools(file);
  if (harness === undefined && runtime === undefined) {
    const isConfigured = flags.agent !== undefined || configFrom(flags) !== undefined;
    if (isConfigured) {
      if (file !== undefined) throw toolsStandThere();
      return configuredAgent(flags, surroundings);
    }
    // Nobody who runs an agent of their own needs the emulator.
    const { startDemoRun } = await import("../bridge/start-demo-run.ts");
    const directory = dataDirectory(flags.dataDir);
    return startDemoRun({ directory, clock: systemClock, tools });
  }
  const agent = await agentFrom(flags, surroundings);
  const provider = providerFor({
    ...connectionFrom(flags, process.env),
    ...agent,
    overrides: overridesFrom(flags),
    limits: limitsFrom(flags),
    ...(flags.user !== undefined && { userId: flags.user }),
  });
  const name = harness === undefined ? "runtime" : "harness";
  return { agent: defineAgent({ name, provider, tools }), close: async () => {} };
}

function toolsStandThere(): SpanlineError {
  const message = "tools are given in the configuration, under the tools of its agent";
  return new SpanlineError("invalid_option", message, { details: { path: "tools" } });
}

async function configuredAgent(
  flags: RunAgentFlags,
  { terminal }: RunSurroundings,
): Promise<RunnableAgent> {
  const report = (error: unknown): void => terminal.note(`${oneLine(String(error))}\n`);
  const notice = (line: string): void => terminal.note(`${line}\n`);
  const directory = dataDirectory(flags.dataDir);
  const { agents, close } = await agentsFrom(flags, { directory, report, notice })();
  const wanted = flags.agent;
  const agent = wanted === undefined ? agents[0] : agents.find((one) => one.facts.name === wanted);
  if (agent !== undefined) return { agent, close };
  await close();
  const known = agents.map(({ facts }) => facts.name).join(", ");
  const message = `agent is "${wanted}", and there is no such agent; there is ${known}`;
  throw new SpanlineError("invalid_option", message, { details: { path: "agent" } });
}

/** A flag for an agent that nobody named is a mistake, and the demo agent would hide it. */
function refuseStray(flags: RunAgentFlags): void {
  const stray = FOR_AGENTS.find((name) => flags[name] !== undefined);
  if (stray === undefined) return;
  const message = `${stray} is for --harness or --runtime; name one of them`;
  throw new SpanlineError("invalid_option", message, { details: { path: stray } });
}

const FOR_AGENTS = [
  "qualifier",
  "user",
  "systemPrompt",
  "model",
  "region",
  "store",
  "endpointUrl",
  "profile",
  "firstEventTimeout",
  "idleTimeout",
  "timeout",
] as const;

function overridesFrom({ systemPrompt, model }: RunAgentFlags) {
  return {
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(model !== undefined && { model }),
  };
}
