import { runToCompletion } from "../bridge/run-to-completion.ts";
import type { RunResult } from "../bridge/run-result.ts";
import type { Envelope } from "../domain/envelope.ts";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { AbortError } from "../domain/provider-error.ts";
import { oneLine, printable } from "../inspect/style.ts";
import { processTerminal } from "../platform/terminal.ts";
import { complaint } from "./complaint.ts";
import { flagFor } from "./flag-for.ts";
import { folded } from "./folded.ts";
import { INTERRUPTED, interruption } from "./interruption.ts";
import { runAgentFrom, type RunAgentFlags, type RunSurroundings } from "./run-agent.ts";
import { runHint } from "./run-hints.ts";
import { terminalApprover, type ApprovalFlags } from "./run-approvals.ts";
import { runOutput, type OutputFlags } from "./run-output.ts";
import { promptFrom } from "./run-prompt.ts";

export interface RunFlags extends RunAgentFlags, ApprovalFlags, OutputFlags {
  readonly maxSteps?: number;
  readonly maxSeconds?: number;
  readonly maxTokens?: number;
}

/** Runs an agent to the end of its turn; returns the exit code. */
export async function runCommand(prompt: string | undefined, flags: RunFlags): Promise<number> {
  const terminal = processTerminal();
  const { signal, release } = interruption(() => {
    terminal.note("\nCancelling the turn. Ctrl-C again ends at once.\n");
  });
  const exitCode = await run(prompt, flags, { terminal, signal }).catch((error: unknown) => {
    if (error instanceof AbortError || signal.aborted) return INTERRUPTED;
    const nextStep = (problem: SpanlineError): string | undefined => runHint(problem, flags);
    terminal.note(`${complaint(error, { nextStep, flagFor: (path) => flagFor(path, flags) })}\n`);
    return error instanceof SpanlineError && isUnusable(error) ? 2 : 1;
  });
  release();
  // A tool that does not hear that it is to stop would keep the process.
  if (flags.tools !== undefined || signal.aborted) process.exit(exitCode);
  return exitCode;
}

async function run(
  given: string | undefined,
  flags: RunFlags,
  { terminal, signal }: RunSurroundings,
): Promise<number> {
  const prompt = await promptFrom(given);
  const { agent, close, aboutCommands } = await runAgentFrom(flags, { terminal, signal });
  let untold = aboutCommands;
  const unread = new AbortController();
  const output = runOutput(flags, terminal, () => unread.abort());
  const approver = terminalApprover({ flags, terminal, signal, shown: () => output.written() });
  try {
    const result = await runToCompletion(agent, {
      prompt,
      signal: AbortSignal.any([signal, unread.signal]),
      // An agent of a configuration knows where it works.
      ...(agent.facts.workspace === undefined && { workingDirectory: process.cwd() }),
      caps: capsFrom(flags),
      approve: (request) => approver.approve(request),
      onEvent(envelope) {
        output.add(envelope);
        if (untold === undefined || !isCommand(envelope)) return;
        terminal.note(`${oneLine(untold)}\n`);
        untold = undefined;
      },
      report: (error) => terminal.note(failureText(error)),
    });
    await output.finish();
    if (signal.aborted) return INTERRUPTED;
    // Whoever read it has read enough.
    if (unread.signal.aborted) return 0;
    noteNextStep(result, flags, terminal);
    if (approver.wasAsked) terminal.note(NOT_KEPT);
    return result.outcome === "completed" && !approver.lackedSomebody ? 0 : 1;
  } finally {
    await close();
  }
}

/** Most runs have a tool for commands and use none. */
function isCommand({ event }: Envelope): boolean {
  return event.type === "tool.called" && event.call.name === "run_command";
}

function capsFrom({ maxSteps, maxSeconds, maxTokens }: RunFlags) {
  return {
    ...(maxSteps !== undefined && { steps: maxSteps }),
    ...(maxSeconds !== undefined && { seconds: maxSeconds }),
    ...(maxTokens !== undefined && { tokens: maxTokens }),
  };
}

/** What went wrong in a tool, indented like all that tools say. Only a bug needs the place in the code. */
function failureText(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const isRefusal = cause instanceof SpanlineError || !(cause instanceof Error);
  const text = isRefusal ? thrownMessage(cause) : (cause.stack ?? cause.message);
  const lines = printable(text).split("\n");
  return folded(lines.map((line) => `  ${line}\n`).join(""), process.stderr.columns);
}

function noteNextStep(
  { reason, failure }: RunResult,
  flags: RunFlags,
  terminal: RunSurroundings["terminal"],
): void {
  const next = runHint(failure ?? { code: reason ?? "", details: {} }, flags);
  if (next !== undefined) terminal.note(`${next}\n`);
}

/** Whoever allowed something will look for it. */
const NOT_KEPT =
  "A run is not kept: `spanline sessions audit` does not know it. --json writes its whole log; sessions of `spanline up` are kept.\n";

function isUnusable({ code, details }: SpanlineError): boolean {
  // One that nobody trusts yet.
  return UNUSABLE.has(code) || details["path"] === "config";
}

/** What the command line or a file is to blame for. */
const UNUSABLE: ReadonlySet<string> = new Set([
  "invalid_option",
  "invalid_message",
  "invalid_tool",
  "unknown_tag",
  "unreadable_input",
  "store_failed",
]);
