import { text } from "node:stream/consumers";
import type { RunResult } from "../../bridge/run/run-result.ts";
import { runToCompletion } from "../../bridge/run/run-to-completion.ts";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { AbortError } from "../../domain/provider/provider-error.ts";
import { toSingleLine, escapeControls } from "../../inspect/trace-style.ts";
import { createTerminal } from "../../platform/terminal/terminal.ts";
import { formatErrorMessage } from "../shared/error-message.ts";
import { findFlag } from "../shared/flags/find-flag.ts";
import { INTERRUPTED, watchInterruption } from "../shared/interruption.ts";
import { wrapLines } from "../shared/terminal/wrap-lines.ts";
import { resolveRunAgent, type RunAgentFlags, type RunContext } from "./resolve-run-agent.ts";
import { createRunOutput, type OutputFlags } from "./run-output.ts";
import { createTerminalApprover, type ApprovalFlags } from "./terminal-approver.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface RunFlags extends RunAgentFlags, ApprovalFlags, OutputFlags {
  readonly maxSteps?: number;
  readonly maxSeconds?: number;
  readonly maxTokens?: number;
}

/** Runs one turn of an agent. Returns the exit code. */
export async function runRunCommand(
  prompt: string | undefined,
  flags: RunFlags,
  io: CommandIo,
): Promise<number> {
  const terminal = createTerminal(io);
  const { signal, release } = watchInterruption(io, () => {
    terminal.note("\nCancelling the turn. Press Ctrl-C again to exit now.\n");
  });
  const exitCode = await runAgentTurn(prompt, flags, { io, terminal, signal }).catch(
    (error: unknown) => {
      if (error instanceof AbortError || signal.aborted) return INTERRUPTED;
      const nextStep = (problem: SpanlineError): string | undefined =>
        suggestNextStep(problem, flags);
      terminal.note(
        `${formatErrorMessage(error, { nextStep, findFlag: (path) => findFlag(path, flags) })}\n`,
      );
      return error instanceof SpanlineError && isUsageError(error) ? 2 : 1;
    },
  );
  release();
  // A tool that ignores its abort signal would keep the process alive.
  if (flags.tools !== undefined || signal.aborted) io.exit(exitCode);
  return exitCode;
}

async function runAgentTurn(
  argument: string | undefined,
  flags: RunFlags,
  { io, terminal, signal }: RunContext,
): Promise<number> {
  const prompt = await readPrompt(argument, io);
  const { agent, close, commandNote } = await resolveRunAgent(flags, { io, terminal, signal });
  let pendingCommandNote = commandNote;
  const outputClosed = new AbortController();
  const output = createRunOutput(flags, {
    terminal,
    columns: io.stderr.columns,
    onOutputClosed: () => outputClosed.abort(),
  });
  const approver = createTerminalApprover({
    flags,
    io,
    terminal,
    signal,
    flushOutput: () => output.flush(),
  });
  try {
    const result = await runToCompletion(agent, {
      prompt,
      signal: AbortSignal.any([signal, outputClosed.signal]),
      // An agent with a workspace has its own working directory.
      ...(agent.spec.workspace === undefined && { workingDirectory: io.cwd }),
      caps: readCaps(flags),
      approve: (request) => approver.approve(request),
      onEvent(envelope) {
        output.add(envelope);
        if (pendingCommandNote === undefined || !isCommandCall(envelope)) return;
        terminal.note(`${toSingleLine(pendingCommandNote)}\n`);
        pendingCommandNote = undefined;
      },
      report: (error) => terminal.note(formatToolFailure(error, io.stderr.columns)),
    });
    await output.finish();
    if (signal.aborted) return INTERRUPTED;
    // The reader of the output closed the pipe on purpose.
    if (outputClosed.signal.aborted) return 0;
    printNextStep(result, flags, terminal);
    if (approver.wasRequested) terminal.note(NOT_STORED_NOTE);
    return result.outcome === "completed" && !approver.wasUnattended ? 0 : 1;
  } finally {
    await close();
  }
}

/** The warning about unconfined commands waits for the first command: most runs have the tool but do not use it. */
function isCommandCall({ event }: Envelope): boolean {
  return event.type === "tool_call.received" && event.toolCall.name === "run_command";
}

function readCaps({ maxSteps, maxSeconds, maxTokens }: RunFlags) {
  return omitUndefined({ steps: maxSteps, seconds: maxSeconds, tokens: maxTokens });
}

/** Formats the failure of a tool, indented like all tool output. Only an unexpected error includes its stack. */
function formatToolFailure(error: unknown, columns: number | undefined): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const isRefusal = cause instanceof SpanlineError || !(cause instanceof Error);
  const text = isRefusal ? formatThrown(cause) : (cause.stack ?? cause.message);
  const lines = escapeControls(text).split("\n");
  return wrapLines(lines.map((line) => `  ${line}\n`).join(""), columns);
}

function printNextStep(
  { reason, failure }: RunResult,
  flags: RunFlags,
  terminal: RunContext["terminal"],
): void {
  const next = suggestNextStep(failure ?? { code: reason ?? "", details: {} }, flags);
  if (next !== undefined) terminal.note(`${next}\n`);
}

/** Printed after an approval, since users may look for its record later. */
const NOT_STORED_NOTE =
  "A run is not stored, so `spanline sessions audit` cannot show it. --json prints its whole log; sessions of `spanline up` are stored.\n";

function isUsageError({ code, details }: SpanlineError): boolean {
  // An untrusted configuration.
  return USAGE_ERROR_CODES.has(code) || details["path"] === "config";
}

/** Errors caused by the command line or a file: exit code 2. */
const USAGE_ERROR_CODES: ReadonlySet<string> = new Set([
  "invalid_option",
  "invalid_message",
  "invalid_tool",
  "unknown_tag",
  "unreadable_input",
  "store_failed",
]);

/** Returns the prompt: the argument, or the text piped in. */
async function readPrompt(argument: string | undefined, { stdin }: CommandIo): Promise<string> {
  if (argument !== undefined && argument !== "-") return argument;
  if (argument === undefined && stdin.isTTY === true) {
    const message =
      "The prompt is missing. Fix: add the prompt, or - to type it and end with Ctrl-D";
    throw new SpanlineError("invalid_option", message);
  }
  const piped = (await text(stdin)).trim();
  if (piped !== "") return piped;
  throw new SpanlineError("invalid_option", "The prompt is missing: standard input is empty");
}

interface RunProblem {
  /** Code of an error, or the reason for the end of the turn. */
  readonly code: string;
  readonly details: { readonly [name: string]: unknown };
}

/** Suggests a fix for a failed run. Undefined if the message already contains one, or none is known. */
function suggestNextStep({ code, details }: RunProblem, flags: RunAgentFlags): string | undefined {
  // The error concerns a flag or the configuration file, and its message names the place.
  if (details["path"] !== undefined) return undefined;
  const isNamed = flags.harness !== undefined || flags.runtime !== undefined;
  return (
    (isNamed ? suggestForNamedAgent(code, flags) : CONFIGURED_AGENT_HINTS.get(code)) ??
    COMMON_HINTS.get(code)
  );
}

/** Hints for an AgentCore agent named by flags. */
function suggestForNamedAgent(code: string, { endpointUrl }: RunAgentFlags): string | undefined {
  if (code === "connect_failed") {
    return endpointUrl === undefined
      ? "Fix: check the region of the ARN and the network."
      : "Fix: check --endpoint-url; `spanline emulate` starts an emulator on this machine.";
  }
  if (code === "no_credentials" && endpointUrl === undefined) {
    return "Fix: configure AWS credentials, or use an emulator with `spanline emulate` and --endpoint-url.";
  }
  return NAMED_AGENT_HINTS.get(code);
}

const NAMED_AGENT_HINTS: ReadonlyMap<string, string> = new Map([
  ["access_denied", "Fix: check the credentials, the region of the ARN and this machine's clock."],
  ["not_found", "Fix: check the ARN and --qualifier; `spanline harness list` lists the harnesses."],
]);

/** Hints for an agent of a configuration. */
const CONFIGURED_AGENT_HINTS: ReadonlyMap<string, string> = new Map([
  ["access_denied", "Fix: check the credentials of the agent's provider in the configuration."],
  ["not_found", "Fix: check the agent's provider in the configuration: its model or its ARN."],
]);

const BUDGET_HINT = "Fix: continue when the budget is reached, or raise the agent's budgets.";

const COMMON_HINTS: ReadonlyMap<string, string> = new Map([
  ["throttled", "Fix: wait a moment and try again."],
  ["connection_lost", "The agent may have completed its work. Fix: check before you run it again."],
  ["max_steps", "Fix: raise --max-steps."],
  ["max_seconds", "Fix: raise --max-seconds."],
  ["budget_tokens", BUDGET_HINT],
  ["budget_seconds", BUDGET_HINT],
  ["budget_tool_calls", BUDGET_HINT],
  ["budget_invocations", BUDGET_HINT],
  ["budget_usd", BUDGET_HINT],
]);
