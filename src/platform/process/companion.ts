import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { processGroupFromId } from "./process-group.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** A helper program with the lifetime of this process, in its own process group. */
export interface Companion {
  /** The id of the process group. */
  readonly group: number;
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  /** Resolves when the whole group is gone and its output has been read. */
  readonly exit: Promise<CompanionExit>;
  /** Closes the input, sends SIGTERM after a second, and kills the group after another second. */
  stop(): Promise<void>;
}

export interface CompanionExit {
  /** 128 plus the number of the signal if a signal ended only the program. Null if the whole group was killed. */
  readonly code: number | null;
  /** The signal that killed the whole group. Null otherwise. */
  readonly signal: string | null;
}

export interface CompanionOptions {
  readonly workingDirectory?: string;
  readonly environment: { readonly [name: string]: string };
}

/** Starts a program that ends with this process, even if this process is killed. */
export async function startCompanion(
  command: string,
  args: readonly string[],
  { workingDirectory, environment }: CompanionOptions,
): Promise<Companion> {
  const child = spawn("/bin/sh", ["-c", GUARD_SCRIPT, "guard", command, ...args], {
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    env: { ...environment },
    ...omitUndefined({ cwd: workingDirectory }),
  });
  const closed = once(child, "close");
  // A failed start is reported by the `spawn` wait below.
  closed.catch(() => undefined);
  const exited = waitForExit(child);
  await once(child, "spawn");
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null || stderr === null) {
    throw new Error(`${command} could not be started`);
  }
  // A program may exit without reading its input: ignore errors of the pipes.
  for (const stream of child.stdio) stream?.on("error", () => undefined);
  const exit = exited.then(async (result) => {
    await killGroup(pid);
    // A process that left the group may keep the pipes open forever.
    await resolvesWithin(closed, DRAIN_MS);
    return result;
  });
  return {
    group: pid,
    input: stdin,
    output: stdout,
    errors: stderr,
    exit,
    async stop() {
      stdin.end();
      if (!(await resolvesWithin(exit, GRACE_MS))) {
        terminate(pid);
        if (!(await resolvesWithin(exit, GRACE_MS))) await killGroup(pid);
      }
      await exit;
    },
  };
}

/**
 * Kills a group. Safe only while a process of the group exists or existed a moment ago: later the id may belong to
 * another group.
 */
async function killGroup(id: number): Promise<void> {
  const group = processGroupFromId(id);
  group.kill();
  await group.waitUntilGone();
}

/**
 * A guard process waits until the pipe held only by this process closes. The program's input closes at the same time;
 * the program has one second to exit by itself and another second after SIGTERM. The shell stays the parent of both, so
 * no other process has to reap them, and exits with the program's code, or with 128 plus the number of its signal.
 */
const GUARD_SCRIPT = `
exec 4<&0
"$@" <&4 3<&- 4<&- &
program=$!
exec 4<&- </dev/null >/dev/null 2>&1
trap "" HUP INT TERM
( read -r over <&3; sleep 1; kill -TERM 0; sleep 1; kill -KILL 0 ) &
guard=$!
exec 3<&-
wait $program
code=$?
kill -KILL $guard
wait $guard
exit $code
`;

const GRACE_MS = 1000;
const DRAIN_MS = 500;

function waitForExit(child: ChildProcess): Promise<CompanionExit> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

async function resolvesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  try {
    return await Promise.race([work.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function terminate(pid: number): void {
  try {
    process.kill(-pid, "SIGTERM");
  } catch {
    // The group is already gone.
  }
}
