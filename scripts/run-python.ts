import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

/** A line printed by a Python program, parsed as JSON. */
export interface Step {
  readonly step: string;
  readonly [fact: string]: unknown;
}

/** The interpreter for running programs and creating environments: `PYTHON`, or `python3`. */
export const PYTHON = process.env["PYTHON"] ?? "python3";

/**
 * Returns the interpreter of a virtual environment with these packages, given with exact versions. The environment is
 * created in `.build` and reused until the list changes. Throws if Python or the package index is not available.
 */
export function preparePython(name: string, packages: readonly string[]): string {
  const folder = resolve(".build/python", name);
  const python = join(folder, "bin/python");
  const [list, listFile] = [packages.join("\n"), join(folder, "packages.txt")];
  if (existsSync(listFile) && readFileSync(listFile, "utf8") === list) return python;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const run = (command: string, ...args: readonly string[]): void => {
    execFileSync(command, args, { stdio: ["ignore", "ignore", "inherit"] });
  };
  process.stdout.write(`Installing ${packages.join(", ")}\n`);
  run(PYTHON, "-m", "venv", folder);
  run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages);
  writeFileSync(listFile, list);
  return python;
}

export interface StartedCommand {
  /** The command's first line of output, parsed as JSON. */
  readonly output: { readonly [name: string]: string };
  stop(): void;
}

/** Starts a command of the built CLI and waits for its first line, the address as JSON. */
export async function startSpanline(args: readonly string[], env = {}): Promise<StartedCommand> {
  const command = ["dist/cli/main.js", ...args, "--port", "0", "--json"];
  const child = spawn(process.execPath, command, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  return { output: JSON.parse(await readFirstLine(child)), stop: () => void child.kill() };
}

async function readFirstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("The program has no output");
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error("The program did not start");
}

interface RunPythonOptions {
  readonly args?: readonly string[];
  /** Standard input of the program. Default: empty. */
  readonly input?: string;
}

/**
 * Runs a Python program and prints its steps. Resolves to true if the steps equal the expected steps and the exit code
 * is 0.
 */
export async function runPython(
  python: string,
  program: string,
  expected: readonly Step[],
  { args = [], input = "" }: RunPythonOptions = {},
): Promise<boolean> {
  const running = spawn(python, ["-c", program, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, NO_PROXY: "127.0.0.1" },
  });
  const exit = once(running, "exit");
  running.stdin.end(input);
  const steps: Step[] = [];
  for await (const line of createInterface({ input: running.stdout })) steps.push(JSON.parse(line));
  const [exitCode] = await exit;
  for (const [at, { step, ...facts }] of steps.entries()) {
    const mark = isSameStep(expected[at], steps[at]) ? "✓" : "✗";
    process.stdout.write(`${mark} ${step} ${JSON.stringify(facts)}\n`);
  }
  const missed = expected.filter((step, at) => !isSameStep(step, steps[at]));
  for (const step of missed) process.stdout.write(`expected ${JSON.stringify(step)}\n`);
  return exitCode === 0 && missed.length === 0 && steps.length === expected.length;
}

function isSameStep(expected: Step | undefined, actual: Step | undefined): boolean {
  try {
    assert.deepEqual(actual, expected);
    return true;
  } catch {
    return false;
  }
}
