import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { CommandResult } from "../command-line.ts";
import { expectGone } from "../processes.ts";
import { startProgramInTerminal, type TerminalSession } from "../terminal-session.ts";

export interface AcpxSettings {
  /** The folder of the package `acpx`. */
  readonly acpxFolder: string;
  /** The agent's command, with its arguments. */
  readonly agentCommand: readonly string[];
  /** The folder of the session. */
  readonly project: string;
  readonly environment: NodeJS.ProcessEnv;
}

export interface Acpx {
  /** Runs a command to its end. The client's status lines are removed from standard error. */
  readonly run: (...args: readonly string[]) => Promise<CommandResult>;
}

/** The command line client `acpx` with its own home folder, which approves every request. */
export function createAcpx(settings: AcpxSettings): Acpx {
  const run: Acpx["run"] = async (...args) => {
    const [program = "", ...flags] = createCommand(settings);
    const child = spawn(program, [...flags, "--ttl", "60", "--approve-all", ...args], {
      cwd: settings.project,
      env: { PATH: process.env["PATH"], ...createEnvironment(settings) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    return { stdout, stderr: stderr.replace(STATUS_LINES, ""), status };
  };
  onTestFinished(async () => {
    // A background process of acpx keeps the agent between two commands.
    const keeper = /^pid: (\d+)$/m.exec((await run("status")).stdout)?.[1];
    await run("sessions", "close");
    if (keeper !== undefined) await expectGone(Number(keeper));
  });
  return { run };
}

/** Submits one prompt with `acpx` in a terminal, where the client asks its user about permissions. */
export function startAcpxInTerminal(settings: AcpxSettings, prompt: string): TerminalSession {
  return startProgramInTerminal([...createCommand(settings), "exec", prompt], {
    environment: createEnvironment(settings),
    workingDirectory: settings.project,
  });
}

function createCommand({ acpxFolder, agentCommand, project }: AcpxSettings): readonly string[] {
  const cli = join(acpxFolder, "dist/cli.js");
  return [process.execPath, cli, "--agent", agentCommand.join(" "), "--cwd", project];
}

function createEnvironment({ project, environment }: AcpxSettings): NodeJS.ProcessEnv {
  const home = join(project, "../acpx-home");
  mkdirSync(home, { recursive: true });
  return { ...environment, HOME: home };
}

/** Lines about the session in use and about a new session. */
const STATUS_LINES = /^\[acpx\] (session|created session|agent:|cwd:) .*\n/gm;
