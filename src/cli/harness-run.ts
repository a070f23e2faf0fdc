import { SpanlineError } from "../domain/errors.ts";
import { AbortError } from "../domain/provider-error.ts";
import { oneLine } from "../inspect/style.ts";
import { processTerminal, type Terminal } from "../platform/terminal.ts";
import type { ControlClient } from "../provisioning/control-client.ts";
import type { Report } from "../provisioning/report.ts";
import { within, type Waiting } from "../provisioning/waiting.ts";
import type { WaitContext } from "../provisioning/wait-errors.ts";
import { complaint } from "./complaint.ts";
import { controlPlaneFrom, type PlaceFlags } from "./control-plane.ts";
import { flagFor } from "./flag-for.ts";
import { INTERRUPTED, interruption } from "./interruption.ts";

/** What all commands on harnesses have in common. */
export interface HarnessFlags extends PlaceFlags {
  /** In seconds. */
  readonly timeout?: number;
  readonly json?: true;
}

export interface HarnessRun {
  readonly client: ControlClient;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** In milliseconds. */
  readonly timeout: number;
  readonly report: Report;
  /** Does something within the time that the command has. */
  within<Value>(work: (waiting: Waiting) => Promise<Value>): Promise<Value>;
}

export interface RunOptions {
  /** What the command is about, which may be an ARN. */
  readonly reference?: string;
  /** In seconds, where no flag says it. */
  readonly timeout?: number;
  /** The flag behind an option of the code, where this command calls it otherwise than the others. */
  readonly flag?: (path: string) => string | undefined;
}

/** Runs a command and turns whatever comes of it into an exit code and words for people. */
export async function runHarness(
  flags: HarnessFlags,
  options: RunOptions,
  command: (run: HarnessRun) => Promise<number>,
): Promise<number> {
  const terminal = processTerminal();
  const { signal, release } = interruption(() => {
    terminal.progress("");
    terminal.note("\nStopping, once what was begun is undone. Ctrl-C again ends at once.\n");
  });
  try {
    const client = await controlPlaneFrom(flags, options.reference);
    const report = reportTo(terminal);
    const timeout = (flags.timeout ?? options.timeout ?? LONG_SECONDS) * 1000;
    const waits = { client, signal, timeout, report };
    const exitCode = await command({
      ...waits,
      terminal,
      within: (work) => within(waits, work),
    });
    terminal.progress("");
    return exitCode;
  } catch (error) {
    terminal.progress("");
    if (error instanceof AbortError || signal.aborted) {
      terminal.note("Stopped.\n");
      return INTERRUPTED;
    }
    const flagOf = (path: string): string | undefined =>
      options.flag?.(path) ?? flagFor(path, flags);
    terminal.note(`${complaint(error, { nextStep: nextStep(flagOf), flagFor: flagOf })}\n`);
    return error instanceof SpanlineError && UNUSABLE.has(error.code) ? 2 : 1;
  } finally {
    release();
  }
}

/** A harness takes seconds and its endpoint minutes. */
const LONG_SECONDS = 600;
/** For what only reads. */
export const SHORT_SECONDS = 60;

function reportTo(terminal: Terminal): Report {
  return {
    progress: (context, failure) => terminal.progress(progressLine(context, failure)),
    warn(message) {
      terminal.progress("");
      terminal.note(`${oneLine(message)}\n`);
    },
  };
}

function progressLine({ harness, phase, status, elapsed }: WaitContext, failure: unknown): string {
  const seconds = Math.round(elapsed / 1000);
  const what = phase === "endpoint" ? `endpoint of ${harness}` : harness;
  const trouble = failure instanceof Error ? `; asking again after: ${failure.message}` : "";
  return oneLine(`${what}: ${status ?? NOT_SEEN[phase]} (${seconds} s${trouble})`);
}

const NOT_SEEN = {
  create: "asking for it",
  harness: "not to be seen yet",
  endpoint: "not to be seen yet",
  deletion: "gone",
  rollback: "deleting it again",
} as const;

/** What the command line or a file is to blame for. */
const UNUSABLE: ReadonlySet<string> = new Set([
  "invalid_option",
  "invalid_tool",
  "unreadable_input",
  "unknown_tag",
]);

function nextStep(flagOf: (path: string) => string | undefined) {
  return ({ code, details }: SpanlineError): string | undefined => {
    if (code === "invalid_option") {
      const path = String(details["path"]);
      // Whoever gave the flag knows it.
      return flagOf(path) === undefined ? FLAGS.get(path) : undefined;
    }
    if (code === "not_ready_in_time" && details["phase"] === "create") {
      return "Nothing tells whether it was created; `spanline harness list` does.";
    }
    return NEXT_STEPS.get(code);
  };
}

const FLAGS: ReadonlyMap<string, string> = new Map([
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
