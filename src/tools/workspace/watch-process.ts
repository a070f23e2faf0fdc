import type { SteadyClock } from "../../platform/clock.ts";
import type { ProcessExit, SpawnedProcess } from "../tool.ts";
import { createBoundedOutput, type BoundedOutput } from "./text/bounded-output.ts";

export interface WatchOptions {
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  readonly milliseconds: number;
  readonly outputBytes: number;
  readonly floodBytes: number;
  readonly progress: (text: string) => void;
}

export interface WatchedProcess {
  /** Null if the program was stopped before its exit. */
  readonly end: ProcessExit | null;
  readonly stopped: StopReason | null;
  readonly output: string;
  readonly errors: string;
  readonly outputBytes: number;
  readonly errorBytes: number;
  readonly milliseconds: number;
}

/** `left`: the program has exited, but a process started by it has not. */
export type StopReason = "time" | "flood" | "left";

/** Reads a program's output until its end or a limit. Remaining processes end with the tool. */
export async function watchProcess(
  program: SpawnedProcess,
  options: WatchOptions,
): Promise<WatchedProcess> {
  const { clock, outputBytes, floodBytes, progress } = options;
  const start = clock.monotonic();
  const output = createBoundedOutput(outputBytes);
  const errors = createBoundedOutput(outputBytes);
  /** Resolves to true if the program wrote more than `floodBytes`. */
  const read = async (
    stream: AsyncIterable<Uint8Array>,
    bounded: BoundedOutput,
  ): Promise<boolean> => {
    for await (const bytes of stream) {
      bounded.add(bytes);
      if (output.length + errors.length > floodBytes) return true;
      const line = readLastLine(bytes);
      if (line !== "") progress(line);
    }
    return false;
  };
  const reading = [read(program.output, output), read(program.errors, errors)];
  const stopped = await waitForEnd(program, reading, options);
  return {
    end: stopped === null || stopped === "left" ? await program.exited : null,
    stopped,
    output: output.text(),
    errors: errors.text(),
    outputBytes: output.length,
    errorBytes: errors.length,
    milliseconds: clock.monotonic() - start,
  };
}

function waitForEnd(
  program: SpawnedProcess,
  reading: readonly Promise<boolean>[],
  { clock, signal, milliseconds }: WatchOptions,
): Promise<StopReason | null> {
  return new Promise((resolve, reject) => {
    const timers = [clock.schedule(milliseconds, () => end("time"))];
    const settle = (): void => {
      for (const callOff of timers) callOff();
      signal.removeEventListener("abort", abort);
    };
    const end = (how: StopReason | null): void => {
      settle();
      resolve(how);
    };
    const fail = (error: unknown): void => {
      settle();
      reject(error);
    };
    const abort = (): void => fail(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    for (const stream of reading) stream.then((isFlood) => isFlood && end("flood"), fail);
    program.exited.then(
      () => timers.push(clock.schedule(OUTPUT_GRACE_MS, () => end("left"))),
      fail,
    );
    Promise.all([program.ended, ...reading]).then(() => end(null), fail);
  });
}

/** Time for the last output after the program's exit. Later output comes from background processes. */
const OUTPUT_GRACE_MS = 500;

function readLastLine(bytes: Uint8Array): string {
  const end = Buffer.from(bytes.subarray(-MAX_SHOWN)).toString().trimEnd();
  return end.slice(end.lastIndexOf("\n") + 1).replaceAll(CONTROL, " ");
}

/** A terminal which displays progress would interpret control characters. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]+/g;

const MAX_SHOWN = 200;
