import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { processGroupFromId } from "./process-group.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** A program that serves this process for as long as both live, in a process group of its own. */
export interface Companion {
  /** The number of its group. */
  readonly group: number;
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  /** Resolves when nothing of its group is left, and what it wrote has been read. */
  readonly exit: Promise<CompanionExit>;
  /** Closes its input, then asks it to end, then ends it. */
  stop(): Promise<void>;
}

export interface CompanionExit {
  /** Above 128 for a signal that came from elsewhere. */
  readonly code: number | null;
  /** The one that ended the whole group. */
  readonly signal: string | null;
}

export interface CompanionOptions {
  readonly workingDirectory?: string;
  readonly environment: { readonly [name: string]: string };
}

/** Starts a program that ends with this process, also when this process is killed. */
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
  // That it could not be started is told of by the next line.
  closed.catch(() => undefined);
  const exited = waitForExit(child);
  await once(child, "spawn");
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null || stderr === null) {
    throw new Error(`${command} could not be started`);
  }
  // A program that ends without reading its input is no error of ours.
  for (const stream of child.stdio) stream?.on("error", () => undefined);
  const exit = exited.then(async (result) => {
    await killGroup(pid);
    // A process that left the group may hold the pipes open for ever.
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

/** Right only while the number can be nobody else's: a process of the group is there, or was a moment ago. */
async function killGroup(id: number): Promise<void> {
  const group = processGroupFromId(id);
  group.kill();
  await group.waitUntilGone();
}

/**
 * Beside the program a guard waits until the pipe closes that this process alone holds. The program, whose input closed
 * with it, then has a second to end by itself, and one more when it was asked to. The shell stays as the parent of both, so
 * that nobody else has to reap them, and ends as the program does: with its code, or with 128 and the number of its signal.
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
    // Gone already.
  }
}
