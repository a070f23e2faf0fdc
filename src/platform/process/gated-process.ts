import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { PassThrough, pipeline, type Readable, type Writable } from "node:stream";
import { readProcessStartTime } from "./process-start-time.ts";
import { processGroupFromId, processGroupFromLeader, type ProcessGroup } from "./process-group.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** A program that has a process group of its own and has not begun: it waits for `release`, or ends with us. */
export interface GatedProcess {
  readonly group: { readonly id: number; readonly startTime: string };
  readonly output: Readable;
  readonly errors: Readable;
  /** The program itself is over; what it started may still hold on to its outputs. */
  readonly exit: Promise<ProcessExit>;
  /** It is over, and both outputs are. */
  readonly close: Promise<ProcessExit>;
  openGate(input?: string): void;
  /** Whether no process of the group is left. */
  isGone(): boolean;
  /** Ends every process of the group that is left. */
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
 * Starts a program behind a gate, so that its group can be written down before it does anything. When this process is
 * killed before the gate opens, the gate's pipe closes and the program never starts.
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
  // A program that could not be started is told of by the next line.
  for (const promise of [exit, close]) promise.catch(() => undefined);
  await once(child, "spawn");
  const { pid, stdin, stdout, stderr } = child;
  const gate = child.stdio[3] as Writable | null;
  if (pid === undefined || stdin === null || stdout === null || stderr === null || gate === null) {
    throw new Error(`${command} could not be started`);
  }
  // A program that ends without reading its input is no error of ours.
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

/** Node throws away what a program wrote if nobody reads it yet when the program ends. */
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
 * Ends every process of a group, and resolves when none is left. A group whose number now belongs to another process
 * than the one that was `born` then, or of which that is not known, is left alone.
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
