import { runToCompletion } from "../bridge/run-to-completion.ts";
import type { RunResult } from "../bridge/run-result.ts";
import { SpanlineError } from "../domain/errors.ts";
import { AbortError } from "../domain/provider-error.ts";
import { printable } from "../inspect/style.ts";
import { processTerminal } from "../platform/terminal.ts";
import { complaint } from "./complaint.ts";
import { flagFor } from "./flag-for.ts";
import { INTERRUPTED, interruption } from "./interruption.ts";
import { runAgentFrom, type RunAgentFlags, type RunSurroundings } from "./run-agent.ts";
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
    terminal.note(`${complaint(error, { nextStep, flagFor: (path) => flagFor(path, flags) })}\n`);
    return error instanceof SpanlineError && UNUSABLE.has(error.code) ? 2 : 1;
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
  const { agent, close } = await runAgentFrom(flags, { terminal, signal });
  const unread = new AbortController();
  const output = runOutput(flags, terminal, () => unread.abort());
  const approver = terminalApprover({ flags, terminal, signal, shown: () => output.written() });
  try {
    const result = await runToCompletion(agent, {
      prompt,
      signal: AbortSignal.any([signal, unread.signal]),
      workingDirectory: process.cwd(),
      caps: capsFrom(flags),
      approve: (request) => approver.approve(request),
      onEvent: (envelope) => output.add(envelope),
      report: (error) => terminal.note(`${printable(inFull(error))}\n`),
    });
    await output.finish();
    if (signal.aborted) return INTERRUPTED;
    // Whoever read it has read enough.
    if (unread.signal.aborted) return 0;
    noteNextStep(result, terminal);
    return result.outcome === "completed" && !approver.lackedSomebody ? 0 : 1;
  } finally {
    await close();
  }
}

function capsFrom({ maxSteps, maxSeconds, maxTokens }: RunFlags) {
  return {
    ...(maxSteps !== undefined && { steps: maxSteps }),
    ...(maxSeconds !== undefined && { seconds: maxSeconds }),
    ...(maxTokens !== undefined && { tokens: maxTokens }),
  };
}

function inFull(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}

function noteNextStep({ reason, failure }: RunResult, terminal: RunSurroundings["terminal"]): void {
  const next = NEXT_STEPS.get(failure?.code ?? reason ?? "");
  if (next !== undefined) terminal.note(`${next}\n`);
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

function nextStep({ code }: SpanlineError): string | undefined {
  return NEXT_STEPS.get(code);
}

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  ["connect_failed", "Check the address; `spanline emulate` starts an emulator on this machine."],
  ["access_denied", "Check the credentials, the region of the ARN and this machine's clock."],
  ["not_found", "Check the ARN and --qualifier; `spanline harness list` shows what there is."],
  ["throttled", "Wait a little and try again."],
  ["connection_lost", "The agent may have done its work; look before you run it again."],
  ["max_steps", "Raise --max-steps to let it go on for longer."],
  ["max_seconds", "Raise --max-seconds to let it go on for longer."],
]);
