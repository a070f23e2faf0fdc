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
  /** The whole environment of the command, in addition to PATH, HOME, PWD and LANG. */
  readonly environment: { readonly [name: string]: string };
  readonly timeoutMilliseconds: number;
  readonly clock: Clock;
  /** Kills the command and all of its processes. */
  readonly signal: AbortSignal;
  /** Called with the process group. Background processes may outlive the command. */
  onStarted(group: ProcessGroup): void;
  /** Receives the output. The command is paused until the promise resolves (backpressure). */
  onOutput(stream: "stdout" | "stderr", text: string): Promise<void>;
}

export interface ShellExit {
  readonly exitCode: number;
  readonly status: "COMPLETED" | "TIMED_OUT";
}

/** Runs a command with `/bin/sh` in its own process group. */
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

/** The exit code of the shell: 128 plus the signal number if killed by a signal. */
function waitForExit(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.on("error", () => resolve(PLATFORM_ERROR_CODE));
    child.on("exit", (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

const PLATFORM_ERROR_CODE = -1;

/** Forwards the output and detects its end. */
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
      // The stream was closed by `end`.
    }
  }

  /**
   * Waits for the rest of the output. A background process may keep the pipes open, so they are closed after 200 ms
   * without output.
   */
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
