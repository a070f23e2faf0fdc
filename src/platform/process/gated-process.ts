import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { PassThrough, pipeline, type Readable, type Writable } from "node:stream";
import { readProcessStartTime } from "./process-start-time.ts";
import { processGroupFromId, processGroupFromLeader, type ProcessGroup } from "./process-group.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/**
 * A program in its own process group that has not started yet. The program waits for `openGate`, or exits with this
 * process.
 */
export interface GatedProcess {
  readonly group: { readonly id: number; readonly startTime: string };
  readonly output: Readable;
  readonly errors: Readable;
  /** Resolves when the program has exited. Its child processes may still hold its output streams. */
  readonly exit: Promise<ProcessExit>;
  /** Resolves when the program has exited and both output streams are closed. */
  readonly close: Promise<ProcessExit>;
  openGate(input?: string): void;
  /** True if no process of the group is left. */
  isGone(): boolean;
  /** Kills every process of the group. */
  stop(): Promise<void>;
}

interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface GatedProcessOptions {
  readonly workingDirectory?: string;
  readonly environment: { readonly [name: string]: string };
}

/**
 * Starts a program behind a gate, so its process group can be stored before the program has any effect. If this process
 * is killed before the gate opens, the gate's pipe closes and the program never starts.
 */
export async function startGatedProcess(
  command: string,
  args: readonly string[],
  { workingDirectory, environment }: GatedProcessOptions,
): Promise<GatedProcess> {
  const child = spawn("/bin/sh", ["-c", GATE_SCRIPT, "gate", command, ...args], {
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    env: { ...environment },
    ...omitUndefined({ cwd: workingDirectory }),
  });
  const exit = waitForEvent(child, "exit");
  const close = waitForEvent(child, "close");
  // A failed start is reported by the `spawn` wait below.
  for (const promise of [exit, close]) promise.catch(() => undefined);
  await once(child, "spawn");
  const { pid, stdin, stdout, stderr } = child;
  const gate = child.stdio[3] as Writable | null;
  if (pid === undefined || stdin === null || stdout === null || stderr === null || gate === null) {
    throw new Error(`${command} could not be started`);
  }
  // A program may exit without reading its input: ignore errors of the pipes.
  stdin.on("error", () => undefined);
  gate.on("error", () => undefined);
  const [output, errors] = [bufferStream(stdout), bufferStream(stderr)];
  const group = processGroupFromLeader(child);
  return {
    group: { id: pid, startTime: await readProcessStartTime(pid) },
    output,
    errors,
    exit,
    close,
    openGate(input = "") {
      gate.end("\n");
      stdin.end(input);
    },
    isGone: () => !group.isAlive,
    stop: () => killAndWait(group),
  };
}

const GATE_SCRIPT = 'read -r go <&3 || exit 125; exec 3<&-; exec "$@"';

/** Buffers the output. Node discards unread output when the program exits. */
function bufferStream(stream: Readable): Readable {
  return pipeline(stream, new PassThrough(), () => undefined);
}

function waitForEvent(child: ChildProcess, event: "exit" | "close"): Promise<ProcessExit> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once(event, (code: number | null, signal: string | null) => resolve({ code, signal }));
  });
}

/**
 * Kills every process of a group and resolves when none is left. Does nothing if the start time is unknown, or if the
 * id now belongs to a process with another start time.
 */
export async function endProcessGroup({ id, startTime }: GatedProcess["group"]): Promise<void> {
  if (startTime === "") return;
  const currentStart = await readProcessStartTime(id);
  if (currentStart === "" || currentStart === startTime) await killAndWait(processGroupFromId(id));
}

function killAndWait(group: ProcessGroup): Promise<void> {
  group.kill();
  return group.waitUntilGone();
}
