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
import { INTERRUPTED, watchInterruption } from "../shared/interruption.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

/** Flags of all `harness` commands. */
export interface HarnessFlags extends ControlPlaneFlags {
  /** Seconds. */
  readonly timeout?: number;
  readonly json?: true;
}

export interface HarnessContext {
  readonly io: CommandIo;
  readonly client: ControlClient;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly timeout: number;
  readonly report: ProgressReporter;
  /** Runs `work` within the timeout of the command. */
  within<Value>(work: (waiting: Poll) => Promise<Value>): Promise<Value>;
}

export interface HarnessCommandOptions {
  readonly io: CommandIo;
  /** The harness named on the command line; may be an ARN. */
  readonly reference?: string;
  /** Default timeout in seconds, used without `--timeout`. */
  readonly timeout?: number;
  /** Returns the flag of an option if this command names the flag differently from the other commands. */
  readonly findFlag?: (path: string) => string | undefined;
}

/** Runs a command and turns its errors into messages and an exit code. */
export async function withHarnessContext(
  flags: HarnessFlags,
  options: HarnessCommandOptions,
  command: (run: HarnessContext) => Promise<number>,
): Promise<number> {
  const { io } = options;
  const terminal = createTerminal(io);
  const { signal, release } = watchInterruption(io, () => {
    terminal.showProgress("");
    terminal.note("\nStopping after cleanup. Press Ctrl-C again to exit now.\n");
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

/** A harness becomes ready in seconds, its endpoint in minutes. */
const DEFAULT_TIMEOUT_SECONDS = 600;
/** For commands that only read. */
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
  const trouble = failure instanceof Error ? `; retrying after: ${failure.message}` : "";
  return toSingleLine(`${subject}: ${status ?? PHASE_TEXTS[phase]} (${seconds} s${trouble})`);
}

const PHASE_TEXTS = {
  create: "requesting",
  harness: "not visible yet",
  endpoint: "not visible yet",
  deletion: "gone",
  rollback: "rolling back",
} as const;

/** Errors caused by the command line or a file: exit code 2. */
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
      // The message already names the flag the user wrote.
      return findOptionFlag(path) === undefined ? FLAG_HINTS.get(path) : undefined;
    }
    if (code === "not_ready_in_time" && details["phase"] === "create") {
      return "It is unknown whether the harness was created. Fix: check with `spanline harness list`.";
    }
    return NEXT_STEPS.get(code);
  };
}

const FLAG_HINTS: ReadonlyMap<string, string> = new Map([
  ["region", "Fix: set --region or AWS_REGION."],
  ["name", "Fix: set --name, or name in the --spec file."],
  ["roleArn", "Fix: set --role, or roleArn in the --spec file."],
  ["changes", "Fix: name the changes with flags such as --system-prompt, or in the --spec file."],
]);

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  [
    "connect_failed",
    "Fix: check --region and --endpoint-url; `spanline emulate` starts an emulator.",
  ],
  [
    "no_credentials",
    "Fix: configure AWS credentials, or use an emulator with `spanline emulate` and --endpoint-url.",
  ],
  [
    "access_denied",
    "Fix: check the credentials (--profile), their IAM policy and this machine's clock.",
  ],
  ["not_found", "Fix: list the harnesses with `spanline harness list`, or set --region."],
  ["throttled", "Fix: wait a moment and try again."],
  ["connection_lost", "The operation may have succeeded. Fix: check with `spanline harness list`."],
  [
    "not_ready_in_time",
    "Fix: raise --timeout. The harness that this command created is deleted again.",
  ],
  [
    "still_deleting",
    "Fix: raise --timeout, delete it with `spanline harness delete`, or choose another name.",
  ],
  [
    "name_taken",
    "Fix: choose another --name, or delete the other harness with `spanline harness delete`.",
  ],
  ["conflict", "The harness is busy. Fix: wait for it with `spanline harness wait`."],
  [
    "unknown_tag",
    "Fix: check --store, the file with the tags; `spanline harness create --tag` creates one.",
  ],
]);
