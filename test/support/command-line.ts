import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { inject } from "vitest";
import type { runCommandLine } from "../../src/cli/command-line.ts";
import { bundleSource } from "./bundle-command.ts";
import { PROCESS_MS, withDeadline } from "./with-deadline.ts";

const root = join(import.meta.dirname, "../..");

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
}

export interface StartOptions {
  readonly environment?: NodeJS.ProcessEnv;
  /** The content of standard input. Default: empty. */
  readonly input?: string | Uint8Array;
  /** True: standard input stays open, so a test can write to it. */
  readonly isOpen?: boolean;
  /** True: the process acts as if stdin and stderr were a terminal. */
  readonly isTerminal?: boolean;
  /** True: the process acts as if stderr were a terminal. */
  readonly isWatched?: boolean;
  /** Default: `folder` of the command line. */
  readonly workingDirectory?: string;
}

export type RunOptions = Pick<StartOptions, "environment" | "input" | "workingDirectory">;

export interface CommandLine {
  /** The working directory, which also contains all data. */
  readonly folder: string;
  /** Starts the command in a separate process. */
  start(args: readonly string[], options?: StartOptions): ChildProcessWithoutNullStreams;
  /** Runs the command to its end in a separate process. */
  runProcess(args: readonly string[], options?: StartOptions): Promise<CommandResult>;
  /** Runs the same bundle to its end in the test's process, without a terminal. */
  run(args: readonly string[], options?: RunOptions): Promise<CommandResult>;
  /** Bundles an entry of the sources into a file of the folder. */
  bundle(entry: string, file: string): Promise<void>;
  /** Kills every process started here. */
  close(): Promise<void>;
}

/** The bundled command line, in separate processes or in the test's process. */
export async function createCommandLine(): Promise<CommandLine> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-cli-"));
  const children: ChildProcessWithoutNullStreams[] = [];
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  cpSync(inject("commandBundle"), join(folder, "bin"), { recursive: true });

  const start: CommandLine["start"] = (args, options = {}) => {
    const { environment, input, isOpen, isTerminal, workingDirectory = folder } = options;
    const preload = isTerminal === true ? [TTY_PRELOAD] : [];
    if (options.isWatched === true) preload.push(STDERR_TTY_PRELOAD);
    const imports = preload.flatMap((script) => ["--import", script]);
    const program = [...imports, join(folder, "bin/main.mjs")];
    const child = spawn(process.execPath, [...program, ...args], {
      env: { ...createEnvironment(folder), ...environment },
      cwd: workingDirectory,
    });
    children.push(child);
    if (isTerminal !== true && isOpen !== true) child.stdin.end(input ?? "");
    return child;
  };
  return {
    folder,
    start,
    bundle: (entry, file) => bundleSource([entry], dirname(join(folder, file))),
    async close() {
      const runningChildren = children.filter(
        ({ exitCode, signalCode }) => (exitCode ?? signalCode) === null,
      );
      const ends = runningChildren.map((child) => once(child, "exit"));
      for (const child of runningChildren) child.kill("SIGKILL");
      await Promise.all(ends);
      rmSync(folder, { recursive: true, force: true });
    },
    run: (args, options) => runInProcess(folder, args, options),
    async runProcess(args, options) {
      const child = start(args, options);
      const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
      const state = async (): Promise<string> => {
        child.kill("SIGKILL");
        const [output, noted] = await ended;
        return `spanline ${args.join(" ")} did not exit.\n${output}\n${noted}`;
      };
      const [outputText, noted, [status]] = await withDeadline(ended, state, PROCESS_MS);
      return {
        stdout: outputText,
        stderr: noted,
        status: typeof status === "number" ? status : null,
      };
    },
  };
}

/** Excludes the environment variables of the user who runs the tests. */
function createEnvironment(folder: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    HOME: folder,
    AWS_EC2_METADATA_DISABLED: "true",
    SPANLINE_DATA_DIR: join(folder, "data"),
  };
}

/** The exports of the bundle. */
interface CommandLineModule {
  readonly runCommandLine: typeof runCommandLine;
}

async function runInProcess(
  folder: string,
  args: readonly string[],
  { environment, input = "", workingDirectory = folder }: RunOptions = {},
): Promise<CommandResult> {
  const main = join(folder, "bin/main.mjs");
  const commandLine: CommandLineModule = await import(join(folder, "bin/command-line.mjs"));
  const stdout = createCollector();
  const stderr = createCollector();
  const exit = new EventEmitter();
  const exited = once(exit, "exit").then(([exitCode]) => Number(exitCode));
  const ended = commandLine.runCommandLine({
    argv: [main, ...args],
    env: { ...createEnvironment(folder), ...environment },
    cwd: workingDirectory,
    stdin: Readable.from([Buffer.from(input)], { objectMode: false }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    signals: new EventEmitter(),
    exit: (exitCode = 0) => void exit.emit("exit", exitCode),
  });
  const state = (): string =>
    `spanline ${args.join(" ")} did not end.\n${stdout.read()}\n${stderr.read()}`;
  const status = await withDeadline(Promise.race([ended, exited]), state, PROCESS_MS);
  return { stdout: stdout.read(), stderr: stderr.read(), status };
}

function createCollector(): { readonly stream: Writable; readonly read: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, read: () => Buffer.concat(chunks).toString("utf8") };
}

const STDERR_TTY_PRELOAD = "data:text/javascript,process.stderr.isTTY=true";
const TTY_PRELOAD = "data:text/javascript,process.stdin.isTTY=process.stderr.isTTY=true";

/** Resolves when a stream contains the words. Returns all output until then. */
export async function waitForOutput(stream: Readable, words: string): Promise<string> {
  let output = "";
  const chunks = stream.iterator({ destroyOnReturn: false });
  const state = (): string => `the stream did not contain "${words}": ${output}`;
  for (;;) {
    const { value, done } = await withDeadline(chunks.next(), state, PROCESS_MS);
    if (done === true) break;
    output += String(value);
    if (!output.includes(words)) continue;
    await chunks.return?.();
    return output;
  }
  throw new Error(`the stream ended without "${words}": ${output}`);
}
