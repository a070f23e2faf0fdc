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
import { INTERRUPTED, onInterruption } from "../shared/interruption.ts";
import { wrapLines } from "../shared/terminal/wrap-lines.ts";
import { resolveRunAgent, type RunAgentFlags, type RunContext } from "./resolve-run-agent.ts";
import { suggestNextStep } from "./run-hints.ts";
import { createRunOutput, type OutputFlags } from "./run-output.ts";
import { createTerminalApprover, type ApprovalFlags } from "./terminal-approver.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface RunFlags extends RunAgentFlags, ApprovalFlags, OutputFlags {
  readonly maxSteps?: number;
  readonly maxSeconds?: number;
  readonly maxTokens?: number;
}

/** Runs an agent to the end of its turn; returns the exit code. */
export async function runRunCommand(
  prompt: string | undefined,
  flags: RunFlags,
  io: CommandIo,
): Promise<number> {
  const terminal = createTerminal(io);
  const { signal, release } = onInterruption(io, () => {
    terminal.note("\nCancelling the turn. Ctrl-C again ends at once.\n");
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
  // A tool that does not hear that it is to stop would keep the process.
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
      // An agent of a configuration knows where it works.
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
    // Whoever read it has read enough.
    if (outputClosed.signal.aborted) return 0;
    printNextStep(result, flags, terminal);
    if (approver.wasRequested) terminal.note(NOT_STORED_NOTE);
    return result.outcome === "completed" && !approver.wasUnattended ? 0 : 1;
  } finally {
    await close();
  }
}

/** Most runs have a tool for commands and use none. */
function isCommandCall({ event }: Envelope): boolean {
  return event.type === "tool_call.received" && event.toolCall.name === "run_command";
}

function readCaps({ maxSteps, maxSeconds, maxTokens }: RunFlags) {
  return omitUndefined({ steps: maxSteps, seconds: maxSeconds, tokens: maxTokens });
}

/** What went wrong in a tool, indented like all that tools say. Only a bug needs the place in the code. */
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

/** Whoever allowed something will look for it. */
const NOT_STORED_NOTE =
  "A run is not kept: `spanline sessions audit` does not know it. --json writes its whole log; sessions of `spanline up` are kept.\n";

function isUsageError({ code, details }: SpanlineError): boolean {
  // One that nobody trusts yet.
  return USAGE_ERROR_CODES.has(code) || details["path"] === "config";
}

/** What the command line or a file is to blame for. */
const USAGE_ERROR_CODES: ReadonlySet<string> = new Set([
  "invalid_option",
  "invalid_message",
  "invalid_tool",
  "unknown_tag",
  "unreadable_input",
  "store_failed",
]);

/** What to say: the argument, or what is piped in. */
async function readPrompt(argument: string | undefined, { stdin }: CommandIo): Promise<string> {
  if (argument !== undefined && argument !== "-") return argument;
  if (argument === undefined && stdin.isTTY === true) {
    const message = "There is nothing to say: give the prompt, or - to type it and end with Ctrl-D";
    throw new SpanlineError("invalid_option", message);
  }
  const piped = (await text(stdin)).trim();
  if (piped !== "") return piped;
  throw new SpanlineError("invalid_option", "There is nothing to say: standard input is empty");
}
