import { queryModel } from "../../aigo/query-model.ts";
import { readInferenceBody } from "../../aigo/run-inference.ts";
import { providerFromEnvironment } from "../../aigo/provider-from-environment.ts";
import type { RunnableAgent } from "../../bridge/agent/start-demo-run.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { AbortError } from "../../domain/provider/provider-error.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { createTerminal, type Terminal } from "../../platform/terminal/terminal.ts";
import { convertUserInput, type InputOptions } from "../../wire/aigo/model-input.ts";
import { convertModelOutput } from "../../wire/aigo/model-output.ts";
import { formatErrorMessage } from "../shared/error-message.ts";
import { findFlag } from "../shared/flags/find-flag.ts";
import { INTERRUPTED, watchInterruption } from "../shared/interruption.ts";
import { readInvocationLimits, type LimitFlags } from "../shared/flags/limit-flags.ts";
import { resolveRunAgent } from "../run/resolve-run-agent.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface InferFlags extends LimitFlags, Pick<InputOptions, "history"> {
  readonly agent?: string;
  readonly config?: string;
  readonly dataDir?: string;
}

/** Runs a turn in the format of AI GO!. Returns the exit code. */
export async function runInferCommand(flags: InferFlags, io: CommandIo): Promise<number> {
  const terminal = createTerminal(io);
  const { signal, release } = watchInterruption(io, () => terminal.note("\nStopping.\n"));
  try {
    return await runInference(flags, { io, terminal, signal });
  } catch (error) {
    if (error instanceof AbortError || signal.aborted) return INTERRUPTED;
    terminal.note(
      `${formatErrorMessage(error, { nextStep: suggestNextStep, findFlag: (path) => findFlag(path, flags) })}\n`,
    );
    return error instanceof SpanlineError && USAGE_ERROR_CODES.has(error.code) ? 2 : 1;
  } finally {
    release();
  }
}

interface InferContext {
  readonly io: CommandIo;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

async function runInference(flags: InferFlags, context: InferContext): Promise<number> {
  const { io, terminal, signal } = context;
  const data = readInferenceBody(await readStandardInput(io));
  const { provider, close } = await resolveProvider(flags, context);
  try {
    const { keepsHistory = true } = provider;
    const { history = "replay" } = flags;
    const input = convertUserInput(data, { history, keepsHistory });
    if (input.ignored !== undefined)
      terminal.note(`no effect: ${toSingleLine(input.ignored.join(", "))}\n`);
    const raw = await queryModel(input, io.env, { provider, signal });
    await terminal.write(`${JSON.stringify(convertModelOutput(raw))}\n`);
    if (raw.failure === undefined) return 0;
    terminal.note(`The turn failed: ${toSingleLine(raw.failure.message)}\n`);
    return 1;
  } finally {
    await close();
  }
}

async function resolveProvider(flags: InferFlags, context: InferContext) {
  const { agent, config, dataDir } = flags;
  if (agent === undefined && config === undefined) {
    if (!AGENT_VARIABLES.some((name) => context.io.env[name])) throw createNoAgentError();
    const provider = providerFromEnvironment(context.io.env, {
      limits: readInvocationLimits(flags),
    });
    return { provider, close: async () => {} };
  }
  const stray = LIMIT_FLAGS.find((name) => flags[name] !== undefined);
  if (stray !== undefined) {
    const message = `${stray} applies only to the agent named by the environment`;
    throw new SpanlineError("invalid_option", message, { details: { path: stray } });
  }
  const started = await resolveRunAgent(omitUndefined({ agent, config, dataDir }), {
    ...context,
    isPersistent: true,
  });
  context.terminal.note(formatUnofferedTools(started.agent));
  return { provider: started.agent.provider, close: started.close };
}

const AGENT_VARIABLES = ["AWS_HARNESS_ARN", "AWS_RUNTIME_ARN"];

function createNoAgentError(): SpanlineError {
  const message = `No agent is named. Fix: add --agent for an agent of the configuration, or set ${AGENT_VARIABLES.join(" or ")}`;
  return new SpanlineError("invalid_option", message);
}

/** Warns if the agent has tools: an evaluation without tools evaluates a different agent. */
function formatUnofferedTools({ tools, open }: RunnableAgent["agent"]): string {
  const names = [...tools.keys(), ...(open === undefined ? [] : ["all tools of its MCP servers"])];
  if (names.length === 0) return "";
  return `tools not offered here: ${toSingleLine(names.join(", "))}; \`spanline serve\` offers them\n`;
}

const LIMIT_FLAGS = ["connectTimeout", "firstEventTimeout", "idleTimeout", "timeout"] as const;

async function readStandardInput({ stdin }: CommandIo): Promise<string> {
  if (stdin.isTTY === true) {
    const message = "The request is missing. Fix: pipe one in, such as '{\"messages\":[…]}'";
    throw new SpanlineError("invalid_option", message);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new SpanlineError("invalid_message", "The request is too large");
  }
  return Buffer.concat(chunks).toString("utf8");
}

const MAX_BYTES = 32 * 1024 * 1024;

/** Errors caused by the request or the environment: exit code 2. */
const USAGE_ERROR_CODES: ReadonlySet<string> = new Set([
  "invalid_option",
  "invalid_message",
  "no_credentials",
]);

function suggestNextStep({ code, details }: SpanlineError): string | undefined {
  if (details["code"] === "invalid_session_id")
    return "Fix: send the session_id unchanged, or omit it.";
  return NEXT_STEPS.get(code);
}

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  [
    "connect_failed",
    "Fix: check the address; `spanline emulate` starts an emulator on this machine.",
  ],
  [
    "access_denied",
    "Fix: check the credentials, including AWS_SESSION_TOKEN, and this machine's clock.",
  ],
  ["not_found", "Fix: check AWS_HARNESS_ARN or AWS_RUNTIME_ARN."],
  ["throttled", "Fix: wait a moment and try again."],
  [
    "connection_lost",
    "The agent may have completed its work. Fix: check before you repeat the invocation.",
  ],
]);
