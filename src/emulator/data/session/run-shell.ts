import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Clock } from "../../../platform/clock.ts";
import {
  processGroupFromLeader,
  type ProcessGroup,
} from "../../../platform/process/process-group.ts";

export interface ShellCommand {
  readonly command: string;
  readonly folder: string;
  /** All that the command gets to see of an environment, beside a path and a home. */
  readonly environment: { readonly [name: string]: string };
  readonly timeoutMilliseconds: number;
  readonly clock: Clock;
  /** Ends the command, and all that it started. */
  readonly signal: AbortSignal;
  /** Told of the processes, some of which may outlive the command in the background. */
  onStarted(group: ProcessGroup): void;
  /** Takes the output piece by piece; the command waits until it is taken. */
  onOutput(stream: "stdout" | "stderr", text: string): Promise<void>;
}

export interface ShellExit {
  readonly exitCode: number;
  readonly status: "COMPLETED" | "TIMED_OUT";
}

/** Runs a command by `/bin/sh` in a process group of its own. */
export async function runShell(shell: ShellCommand): Promise<ShellExit> {
  const { command, folder, environment, clock, signal } = shell;
  const child = spawn("/bin/sh", ["-c", command], {
    cwd: folder,
    env: { PATH: SEARCH_PATH, HOME: folder, PWD: folder, LANG: "C.UTF-8", ...environment },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const group = processGroupFromLeader(child);
  shell.onStarted(group);
  let timedOut = false;
  const stop = (): void => group.kill();
  const stopTimer = clock.schedule(shell.timeoutMilliseconds, () => {
    timedOut = true;
    stop();
  });
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    const reading = new OutputReader(child, shell);
    const exitCode = await waitForExit(child);
    await reading.end(clock);
    return timedOut ? { exitCode: -1, status: "TIMED_OUT" } : { exitCode, status: "COMPLETED" };
  } finally {
    stopTimer();
    signal.removeEventListener("abort", stop);
  }
}

const SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** What the shell would say of its command: a signal counts from 128. */
function waitForExit(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.on("error", () => resolve(PLATFORM_ERROR_CODE));
    child.on("exit", (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

const PLATFORM_ERROR_CODE = -1;

/** Passes the output on, and knows when there is no more of it to wait for. */
class OutputReader {
  readonly #child: ChildProcess;
  readonly #shell: ShellCommand;
  readonly #done: Promise<unknown>;
  #passed = 0;
  #passing = 0;

  constructor(child: ChildProcess, shell: ShellCommand) {
    this.#child = child;
    this.#shell = shell;
    this.#done = Promise.all([this.#pass("stdout"), this.#pass("stderr")]);
  }

  async #pass(name: "stdout" | "stderr"): Promise<void> {
    const stream = this.#child[name];
    stream?.setEncoding("utf8");
    try {
      for await (const text of stream ?? []) {
        this.#passing += 1;
        await this.#shell.onOutput(name, String(text));
        this.#passing -= 1;
        this.#passed += 1;
      }
    } catch {
      // Closed under our hands, by `end`.
    }
  }

  /** A process that the command left in the background keeps the output open; the command is over all the same. */
  async end(clock: Clock): Promise<void> {
    let cancel: () => void = () => {};
    const quiet = (before: number): void => {
      cancel = clock.schedule(GRACE_MILLISECONDS, () => {
        if (this.#passing > 0 || this.#passed > before) quiet(this.#passed);
        else {
          this.#child.stdout?.destroy();
          this.#child.stderr?.destroy();
        }
      });
    };
    quiet(this.#passed);
    await this.#done;
    cancel();
  }
}

const GRACE_MILLISECONDS = 200;
