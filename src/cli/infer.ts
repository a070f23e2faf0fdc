import { queryModel } from "../aigo/query-model.ts";
import { readInferenceBody } from "../aigo/run-inference.ts";
import { providerFromEnvironment } from "../aigo/provider-from-environment.ts";
import type { RunnableAgent } from "../bridge/start-demo-run.ts";
import { SpanlineError } from "../domain/errors.ts";
import { AbortError } from "../domain/provider-error.ts";
import { oneLine } from "../inspect/style.ts";
import { processTerminal, type Terminal } from "../platform/terminal.ts";
import { convertUserInput, type InputOptions } from "../wire/aigo/model-input.ts";
import { convertModelOutput } from "../wire/aigo/model-output.ts";
import { complaint } from "./complaint.ts";
import { flagFor } from "./flag-for.ts";
import { INTERRUPTED, interruption } from "./interruption.ts";
import { limitsFrom, type LimitFlags } from "./limits-from.ts";
import { runAgentFrom } from "./run-agent.ts";

export interface InferFlags extends LimitFlags, Pick<InputOptions, "history"> {
  readonly agent?: string;
  readonly config?: string;
  readonly dataDir?: string;
}

/** Runs one turn as AI GO! wants it; returns the exit code. */
export async function inferCommand(flags: InferFlags): Promise<number> {
  const terminal = processTerminal();
  const { signal, release } = interruption(() => terminal.note("\nStopping.\n"));
  try {
    return await infer(flags, { terminal, signal });
  } catch (error) {
    if (error instanceof AbortError || signal.aborted) return INTERRUPTED;
    terminal.note(`${complaint(error, { nextStep, flagFor: (path) => flagFor(path, flags) })}\n`);
    return error instanceof SpanlineError && UNUSABLE.has(error.code) ? 2 : 1;
  } finally {
    release();
  }
}

interface Surroundings {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

async function infer(flags: InferFlags, around: Surroundings): Promise<number> {
  const { terminal, signal } = around;
  const data = readInferenceBody(await standardInput());
  const { provider, close } = await providerOf(flags, around);
  try {
    const { keepsHistory = true } = provider;
    const { history = "replay" } = flags;
    const input = convertUserInput(data, { history, keepsHistory });
    if (input.ignored !== undefined)
      terminal.note(`no effect: ${oneLine(input.ignored.join(", "))}\n`);
    const raw = await queryModel(input, process.env, { provider, signal });
    await terminal.write(`${JSON.stringify(convertModelOutput(raw))}\n`);
    if (raw.failure === undefined) return 0;
    terminal.note(`The turn failed: ${oneLine(raw.failure.message)}\n`);
    return 1;
  } finally {
    await close();
  }
}

async function providerOf(flags: InferFlags, around: Surroundings) {
  const { agent, config, dataDir } = flags;
  if (agent === undefined && config === undefined) {
    if (!NAMES_OF_AGENTS.some((name) => process.env[name])) throw nobodyNamed();
    const provider = providerFromEnvironment(process.env, { limits: limitsFrom(flags) });
    return { provider, close: async () => {} };
  }
  const stray = LIMITS.find((name) => flags[name] !== undefined);
  if (stray !== undefined) {
    const message = `${stray} is for the agent that the environment names`;
    throw new SpanlineError("invalid_option", message, { details: { path: stray } });
  }
  const started = await runAgentFrom(
    {
      ...(agent !== undefined && { agent }),
      ...(config !== undefined && { config }),
      ...(dataDir !== undefined && { dataDir }),
    },
    { ...around, isKept: true },
  );
  around.terminal.note(notOffered(started.agent));
  return { provider: started.agent.provider, close: started.close };
}

const NAMES_OF_AGENTS = ["AWS_HARNESS_ARN", "AWS_RUNTIME_ARN"];

function nobodyNamed(): SpanlineError {
  const message = `Name an agent: one of a configuration with --agent, or set ${NAMES_OF_AGENTS.join(" or ")}`;
  return new SpanlineError("invalid_option", message);
}

/** An evaluation of an agent without its tools is one of another agent. */
function notOffered({ tools, open }: RunnableAgent["agent"]): string {
  const names = [...tools.keys(), ...(open === undefined ? [] : ["those of its MCP servers"])];
  if (names.length === 0) return "";
  return `tools that are not offered here: ${oneLine(names.join(", "))}; \`spanline serve\` offers them\n`;
}

const LIMITS = ["connectTimeout", "firstEventTimeout", "idleTimeout", "timeout"] as const;

async function standardInput(): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY) {
    const message = "There is no request: pipe one in, such as '{\"messages\":[…]}'";
    throw new SpanlineError("invalid_option", message);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new SpanlineError("invalid_message", "The request is too large");
  }
  return Buffer.concat(chunks).toString("utf8");
}

const MOST_BYTES = 32 * 1024 * 1024;

/** What the request or the surroundings are to blame for. */
const UNUSABLE: ReadonlySet<string> = new Set([
  "invalid_option",
  "invalid_message",
  "no_credentials",
]);

function nextStep({ code, details }: SpanlineError): string | undefined {
  if (details["code"] === "invalid_session_id") return "Send the session_id as it came, or none.";
  return NEXT_STEPS.get(code);
}

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  ["connect_failed", "Check the address; `spanline emulate` starts an emulator on this machine."],
  [
    "access_denied",
    "Check the credentials, AWS_SESSION_TOKEN among them, and this machine's clock.",
  ],
  ["not_found", "Check AWS_HARNESS_ARN or AWS_RUNTIME_ARN."],
  ["throttled", "Wait a little and try again."],
  ["connection_lost", "The agent may have done its work; look before you call it again."],
]);
