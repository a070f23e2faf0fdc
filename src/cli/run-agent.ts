import { defineAgent } from "../bridge/define-agent.ts";
import { loadTools } from "../bridge/load-tools.ts";
import { providerFor } from "../bridge/provider-for.ts";
import type { RunnableAgent } from "../bridge/start-demo-run.ts";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { printable } from "../inspect/style.ts";
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
  /** A conversation goes on in the next process, so that the demo agent has to remember it. */
  readonly isKept?: true;
}

export interface AgentOfRun extends RunnableAgent {
  /** What people should know before a command runs. */
  readonly aboutCommands?: string;
}

/** The agent that the flags mean, ready to be run. */
export async function runAgentFrom(
  flags: RunAgentFlags,
  surroundings: RunSurroundings,
): Promise<AgentOfRun> {
  const { harness, runtime, tools: file } = flags;
  const notice = noticeOn(surroundings);
  if (harness === undefined && runtime === undefined) refuseStray(flags);
  const tools = file === undefined ? [] : await loadTools(file);
  if (harness === undefined && runtime === undefined) {
    const isConfigured = flags.agent !== undefined || configFrom(flags) !== undefined;
    if (isConfigured) {
      if (file !== undefined) throw toolsAreConfigured();
      return configuredAgent(flags, surroundings);
    }
    // Nobody who runs an agent of their own needs the emulator.
    const { startDemoRun } = await import("../bridge/start-demo-run.ts");
    const directory = dataDirectory(flags.dataDir, notice);
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

function noticeOn({ terminal }: RunSurroundings): (line: string) => void {
  return (line) => terminal.note(`${line}\n`);
}

function toolsAreConfigured(): SpanlineError {
  const message = "tools are given in the configuration, under the tools of its agent";
  return new SpanlineError("invalid_option", message, { details: { path: "tools" } });
}

async function configuredAgent(
  flags: RunAgentFlags,
  surroundings: RunSurroundings,
): Promise<AgentOfRun> {
  const notice = noticeOn(surroundings);
  const report = (error: unknown): void => notice(indented(thrownMessage(error)));
  const directory = dataDirectory(flags.dataDir, notice);
  let aboutCommands: string | undefined;
  const commandNotice = (line: string): void => void (aboutCommands = line);
  const isForOneRun = surroundings.isKept !== true;
  const place = { directory, isForOneRun, report, notice, commandNotice };
  const { agents, close } = await agentsFrom(flags, place)();
  const wanted = flags.agent;
  const agent = wanted === undefined ? agents[0] : agents.find((one) => one.facts.name === wanted);
  const told = aboutCommands === undefined ? {} : { aboutCommands };
  if (agent !== undefined) return { agent, close, ...told };
  await close();
  const known = agents.map(({ facts }) => facts.name).join(", ");
  const message = `agent is "${wanted}", and there is no such agent; there is ${known}`;
  throw new SpanlineError("invalid_option", message, { details: { path: "agent" } });
}

/** What a program wrote has many lines; none of them can be taken for one of ours. */
function indented(text: string): string {
  return printable(text).replace(/[\n\u2028\u2029]/g, "\n  ");
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
  "connectTimeout",
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
