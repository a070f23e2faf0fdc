import { defineAgent } from "../../bridge/agent/define-agent.ts";
import { loadTools } from "../../bridge/agent/load-tools.ts";
import { createAgentCoreProvider } from "../../bridge/agent/agentcore-provider.ts";
import type { RunnableAgent } from "../../bridge/agent/start-demo-run.ts";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import { escapeControls } from "../../inspect/trace-style.ts";
import { systemClock } from "../../platform/clock.ts";
import type { Terminal } from "../../platform/terminal/terminal.ts";
import { resolveAgentReference, type AgentFlags } from "../shared/flags/agent-reference.ts";
import {
  createAgentsStarter,
  resolveConfigFile,
  type ConfigFlags,
} from "../shared/flags/config-flags.ts";
import { resolveConnection } from "../shared/flags/connection-flags.ts";
import { resolveDataDirectory } from "../shared/flags/resolve-data-directory.ts";
import { readInvocationLimits, type LimitFlags } from "../shared/flags/limit-flags.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

export interface RunAgentFlags extends AgentFlags, LimitFlags, ConfigFlags {
  readonly agent?: string;
  readonly user?: string;
  readonly systemPrompt?: string;
  readonly model?: string;
  readonly tools?: string;
  readonly dataDir?: string;
  /** Runs the built-in demo agent even if there is a configuration. */
  readonly isBuiltInDemo?: true;
}

export interface RunContext {
  readonly io: CommandIo;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Set if a later process continues the conversation: the demo agent then stores its sessions. */
  readonly isPersistent?: true;
}

export interface RunTarget extends RunnableAgent {
  /** A warning to print before the first command runs. Undefined if commands are confined. */
  readonly commandNote?: string;
}

/** Starts the agent that the flags name. */
export async function resolveRunAgent(
  flags: RunAgentFlags,
  context: RunContext,
): Promise<RunTarget> {
  const { harness, runtime, tools: file } = flags;
  const { io } = context;
  const notice = createNotice(context);
  if (harness === undefined && runtime === undefined) rejectStrayFlags(flags);
  const tools = file === undefined ? [] : await loadTools(file, io.cwd);
  if (harness === undefined && runtime === undefined) {
    const isConfigured = flags.agent !== undefined || resolveConfigFile(flags, io) !== undefined;
    if (isConfigured && flags.isBuiltInDemo !== true) {
      if (file !== undefined) throw createToolsConfiguredError();
      return startConfiguredAgent(flags, context);
    }
    // The emulator is loaded only for the demo agent.
    const { startDemoRun } = await import("../../bridge/agent/start-demo-run.ts");
    const directory = resolveDataDirectory(flags.dataDir, io, notice);
    return startDemoRun({ directory, clock: systemClock, tools });
  }
  const agent = await resolveAgentReference(flags, context);
  const provider = createAgentCoreProvider({
    ...resolveConnection(flags, io.env),
    ...agent,
    overrides: readOverrides(flags),
    limits: readInvocationLimits(flags),
    ...omitUndefined({ userId: flags.user }),
  });
  const name = harness === undefined ? "runtime" : "harness";
  return { agent: defineAgent({ name, provider, tools }), close: async () => {} };
}

function createNotice({ terminal }: RunContext): (line: string) => void {
  return (line) => terminal.note(`${line}\n`);
}

function createToolsConfiguredError(): SpanlineError {
  const message =
    "tools cannot be combined with a configuration. Fix: list the tools under the agent in the configuration";
  return new SpanlineError("invalid_option", message, { details: { path: "tools" } });
}

async function startConfiguredAgent(flags: RunAgentFlags, context: RunContext): Promise<RunTarget> {
  const notice = createNotice(context);
  const report = (error: unknown): void => notice(indentText(formatThrown(error)));
  const directory = resolveDataDirectory(flags.dataDir, context.io, notice);
  let commandNote: string | undefined;
  const commandNotice = (line: string): void => void (commandNote = line);
  const isSingleRun = context.isPersistent !== true;
  const agentsContext = { io: context.io, directory, isSingleRun, report, notice, commandNotice };
  const { agents, close } = await createAgentsStarter(flags, agentsContext)();
  const requestedAgent = flags.agent;
  const agent =
    requestedAgent === undefined
      ? agents[0]
      : agents.find((candidate) => candidate.spec.name === requestedAgent);
  const notes = commandNote === undefined ? {} : { commandNote };
  if (agent !== undefined) return { agent, close, ...notes };
  await close();
  const names = agents.map(({ spec }) => spec.name);
  const message = formatUnknownName("Agent", requestedAgent ?? "default", { names });
  throw new SpanlineError("invalid_option", message, { details: { path: "agent" } });
}

/** Indents all lines after the first, so output of a program cannot imitate a line of Spanline. */
function indentText(text: string): string {
  return escapeControls(text).replace(/[\n\u2028\u2029]/g, "\n  ");
}

/**
 * Throws `invalid_option` for a flag that needs `--harness` or `--runtime`. Without the check the demo agent would hide
 * the mistake.
 */
function rejectStrayFlags(flags: RunAgentFlags): void {
  const stray = AGENT_ONLY_FLAGS.find((name) => flags[name] !== undefined);
  if (stray === undefined) return;
  const message = `${stray} requires an AgentCore agent. Fix: add --harness or --runtime`;
  throw new SpanlineError("invalid_option", message, { details: { path: stray } });
}

const AGENT_ONLY_FLAGS = [
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

function readOverrides({ systemPrompt, model }: RunAgentFlags) {
  return omitUndefined({ systemPrompt, model });
}
