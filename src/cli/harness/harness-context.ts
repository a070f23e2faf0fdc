import { SpanlineError } from "../../domain/errors.ts";
import { AbortError } from "../../domain/provider/provider-error.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { createTerminal, type Terminal } from "../../platform/terminal/terminal.ts";
import type { ControlClient } from "../../provisioning/control-client.ts";
import type { ProgressReporter } from "../../provisioning/progress-reporter.ts";
import { withPoll, type Poll } from "../../provisioning/poll.ts";
import type { WaitContext } from "../../provisioning/wait-errors.ts";
import { formatErrorMessage } from "../shared/error-message.ts";
import { createControlClientFromFlags, type ControlPlaneFlags } from "./control-plane-client.ts";
import { findFlag } from "../shared/flags/find-flag.ts";
import { INTERRUPTED, onInterruption } from "../shared/interruption.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

/** What all commands on harnesses have in common. */
export interface HarnessFlags extends ControlPlaneFlags {
  /** In seconds. */
  readonly timeout?: number;
  readonly json?: true;
}

export interface HarnessContext {
  readonly io: CommandIo;
  readonly client: ControlClient;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** In milliseconds. */
  readonly timeout: number;
  readonly report: ProgressReporter;
  /** Does something within the time that the command has. */
  within<Value>(work: (waiting: Poll) => Promise<Value>): Promise<Value>;
}

export interface HarnessCommandOptions {
  readonly io: CommandIo;
  /** What the command is about, which may be an ARN. */
  readonly reference?: string;
  /** In seconds, where no flag says it. */
  readonly timeout?: number;
  /** The flag behind an option of the code, where this command calls it otherwise than the others. */
  readonly findFlag?: (path: string) => string | undefined;
}

/** Runs a command and turns whatever comes of it into an exit code and words for people. */
export async function withHarnessContext(
  flags: HarnessFlags,
  options: HarnessCommandOptions,
  command: (run: HarnessContext) => Promise<number>,
): Promise<number> {
  const { io } = options;
  const terminal = createTerminal(io);
  const { signal, release } = onInterruption(io, () => {
    terminal.showProgress("");
    terminal.note("\nStopping, once what was begun is undone. Ctrl-C again ends at once.\n");
  });
  try {
    const client = await createControlClientFromFlags(flags, io, options.reference);
    const report = createReport(terminal);
    const timeout = (flags.timeout ?? options.timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
    const waits = { client, signal, timeout, report };
    const exitCode = await command({
      ...waits,
      io,
      terminal,
      within: (work) => withPoll(waits, work),
    });
    terminal.showProgress("");
    return exitCode;
  } catch (error) {
    terminal.showProgress("");
    if (error instanceof AbortError || signal.aborted) {
      terminal.note("Stopped.\n");
      return INTERRUPTED;
    }
    const findOptionFlag = (path: string): string | undefined =>
      options.findFlag?.(path) ?? findFlag(path, flags);
    terminal.note(
      `${formatErrorMessage(error, { nextStep: createNextStep(findOptionFlag), findFlag: findOptionFlag })}\n`,
    );
    return error instanceof SpanlineError && USAGE_ERROR_CODES.has(error.code) ? 2 : 1;
  } finally {
    release();
  }
}

/** A harness takes seconds and its endpoint minutes. */
const DEFAULT_TIMEOUT_SECONDS = 600;
/** For what only reads. */
export const READ_TIMEOUT_SECONDS = 60;

function createReport(terminal: Terminal): ProgressReporter {
  return {
    reportProgress: (context, failure) => terminal.showProgress(formatProgress(context, failure)),
    warn(message) {
      terminal.showProgress("");
      terminal.note(`${toSingleLine(message)}\n`);
    },
  };
}

function formatProgress(
  { harness, phase, status, elapsed }: WaitContext,
  failure: unknown,
): string {
  const seconds = Math.round(elapsed / 1000);
  const subject = phase === "endpoint" ? `endpoint of ${harness}` : harness;
  const trouble = failure instanceof Error ? `; asking again after: ${failure.message}` : "";
  return toSingleLine(`${subject}: ${status ?? PHASE_TEXTS[phase]} (${seconds} s${trouble})`);
}

const PHASE_TEXTS = {
  create: "asking for it",
  harness: "not to be seen yet",
  endpoint: "not to be seen yet",
  deletion: "gone",
  rollback: "deleting it again",
} as const;

/** What the command line or a file is to blame for. */
const USAGE_ERROR_CODES: ReadonlySet<string> = new Set([
  "invalid_option",
  "invalid_tool",
  "unreadable_input",
  "unknown_tag",
]);

function createNextStep(findOptionFlag: (path: string) => string | undefined) {
  return ({ code, details }: SpanlineError): string | undefined => {
    if (code === "invalid_option") {
      const path = String(details["path"]);
      // Whoever gave the flag knows it.
      return findOptionFlag(path) === undefined ? FLAG_HINTS.get(path) : undefined;
    }
    if (code === "not_ready_in_time" && details["phase"] === "create") {
      return "Nothing tells whether it was created; `spanline harness list` does.";
    }
    return NEXT_STEPS.get(code);
  };
}

const FLAG_HINTS: ReadonlyMap<string, string> = new Map([
  ["region", "Give it with --region, or in AWS_REGION."],
  ["name", "Give it with --name, or in the file of --spec."],
  ["roleArn", "Give it with --role, or in the file of --spec."],
  ["changes", "Say what to change with flags such as --system-prompt, or in the file of --spec."],
]);

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  ["connect_failed", "Check --region and --endpoint-url; `spanline emulate` starts an emulator."],
  ["no_credentials", "Without an account, `spanline emulate` and --endpoint-url do."],
  ["access_denied", "Check the credentials (--profile), their policy and this machine's clock."],
  ["not_found", "`spanline harness list` shows what there is; --region says where to look."],
  ["throttled", "Wait a little and try again."],
  ["connection_lost", "It may have been done all the same; `spanline harness list` shows it."],
  [
    "not_ready_in_time",
    "Raise --timeout. What this command created is deleted again; nothing else is.",
  ],
  [
    "still_deleting",
    "Raise --timeout, delete it with `spanline harness delete`, or choose another name.",
  ],
  ["name_taken", "Choose another --name, or delete that harness with `spanline harness delete`."],
  ["conflict", "The harness is busy; wait for it with `spanline harness wait`."],
  [
    "unknown_tag",
    "Tags are kept in the file of --store; `spanline harness create --tag` gives one.",
  ],
]);
