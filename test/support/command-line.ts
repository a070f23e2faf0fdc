import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { inject } from "vitest";
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
  /** What standard input says; nothing when it is not given. */
  readonly input?: string;
  /** Standard input stays open, for a test that writes to it. */
  readonly isOpen?: boolean;
  /** As if a person sat there. */
  readonly isTerminal?: boolean;
  /** The folder of all when it is not given. */
  readonly workingDirectory?: string;
}

export interface CommandLine {
  /** Where it runs, and where everything it keeps is. */
  readonly folder: string;
  start(args: readonly string[], options?: StartOptions): ChildProcessWithoutNullStreams;
  run(args: readonly string[], options?: StartOptions): Promise<CommandResult>;
  /** Bundles an entry of the sources into a file of the folder. */
  bundle(entry: string, file: string): Promise<void>;
  /** Ends every process that was started here. */
  close(): Promise<void>;
}

/** The command, in processes of its own. */
export async function createCommandLine(): Promise<CommandLine> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-cli-"));
  const children: ChildProcessWithoutNullStreams[] = [];
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  cpSync(inject("commandBundle"), join(folder, "bin"), { recursive: true });

  const start: CommandLine["start"] = (args, options = {}) => {
    const { environment, input, isOpen, isTerminal, workingDirectory = folder } = options;
    const clean = { PATH: process.env["PATH"], HOME: folder, AWS_EC2_METADATA_DISABLED: "true" };
    const seated = ["--import", TTY_PRELOAD];
    const program = [...(isTerminal === true ? seated : []), join(folder, "bin/main.mjs")];
    const child = spawn(process.execPath, [...program, ...args], {
      env: { ...clean, SPANLINE_DATA_DIR: join(folder, "data"), ...environment },
      cwd: workingDirectory,
    });
    children.push(child);
    if (isTerminal !== true && isOpen !== true) child.stdin.end(input ?? "");
    return child;
  };
  return {
    folder,
    start,
    bundle: (entry, file) => bundleSource(entry, dirname(join(folder, file))),
    async close() {
      const left = children.filter(({ exitCode, signalCode }) => (exitCode ?? signalCode) === null);
      const ends = left.map((child) => once(child, "exit"));
      for (const child of left) child.kill("SIGKILL");
      await Promise.all(ends);
      rmSync(folder, { recursive: true, force: true });
    },
    async run(args, options) {
      const child = start(args, options);
      const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
      const state = async (): Promise<string> => {
        child.kill("SIGKILL");
        const [said, noted] = await ended;
        return `spanline ${args.join(" ")} did not exit.\n${said}\n${noted}`;
      };
      const [said, noted, [status]] = await withDeadline(ended, state, PROCESS_MS);
      return { stdout: said, stderr: noted, status: typeof status === "number" ? status : null };
    },
  };
}

const TTY_PRELOAD = "data:text/javascript,process.stdin.isTTY=process.stderr.isTTY=true";

/** Resolves when a stream has said something; with all that it said until then. */
export async function waitForOutput(stream: Readable, words: string): Promise<string> {
  let output = "";
  const chunks = stream.iterator({ destroyOnReturn: false });
  const state = (): string => `the stream did not say "${words}": ${output}`;
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
