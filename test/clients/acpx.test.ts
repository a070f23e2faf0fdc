import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { readBridgeFile } from "../../src/bridge/owner/bridge-file.ts";
import { createAcpProject, type AcpProject } from "../support/acp/acp-project.ts";
import {
  createCommandLine,
  type CommandLine,
  type CommandResult,
} from "../support/command-line.ts";
import { expectGone } from "../support/processes.ts";

const ACPX = join(createRequire(import.meta.url).resolve("acpx/package.json"), "../dist/cli.js");

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

interface Acpx {
  /** Runs a command to its end. The client's status lines are removed from standard error. */
  readonly run: (...args: readonly string[]) => Promise<CommandResult>;
}

/** A command line client with its own home folder, which approves every request. */
function acpx({ args, environment, project }: AcpProject): Acpx {
  const home = join(project, "../home");
  mkdirSync(home);
  const agent = [process.execPath, join(command.folder, "bin/main.mjs"), ...args].join(" ");
  const common = ["--agent", agent, "--cwd", project, "--ttl", "60", "--approve-all"];
  const run: Acpx["run"] = async (...wanted) => {
    const child = spawn(process.execPath, [ACPX, ...common, ...wanted], {
      cwd: project,
      env: { PATH: process.env["PATH"], HOME: home, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, noted, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    return { stdout, stderr: noted.replace(OWN_NEWS, ""), status };
  };
  onTestFinished(async () => {
    // A background process of acpx keeps the agent between two commands.
    const keeper = /^pid: (\d+)$/m.exec((await run("status")).stdout)?.[1];
    await run("sessions", "close");
    if (keeper !== undefined) await expectGone(Number(keeper));
  });
  return { run };
}

/** Lines about the session in use and about a new session. */
const OWN_NEWS = /^\[acpx\] (session|created session|agent:|cwd:) .*\n/gm;

function done(stdout: string): CommandResult {
  return { stdout: expect.stringContaining(stdout), stderr: "", status: 0 };
}

describe("acpx with an agent that it started", () => {
  it("acpx runs a whole session without errors [ACP-128]", async () => {
    const world = await createAcpProject(command);
    const { run } = acpx(world);
    expect(await run("sessions", "new")).toEqual(done("ses_"));
    expect(await run("prompt", "write it down")).toEqual(done("[done] end_turn"));
    expect(world.readWritten("note.txt")).toBe("write it down");

    const cancelled = run("prompt", "wait for me");
    await eventually(() => expect(world.hasModelReceived("wait for me")).toBe(true));
    expect(await run("prompt", "--no-wait", "queued behind it")).toEqual(done("queued"));
    expect(await run("cancel")).toEqual(done("cancel"));
    expect(await cancelled).toEqual(done("[done] cancelled"));
    expect(await run("prompt", "and then?")).toEqual(done("You said: and then?"));
    expect(world.hasModelReceived("queued behind it")).toBe(true);

    expect(await run("sessions", "list")).toEqual(done("ses_"));
    expect(await run("sessions", "close")).toEqual(done("ses_"));
  });

  it("acpx resumes its session with a new process after its agent is killed during a turn [ACP-59]", async () => {
    const world = await createAcpProject(command);
    const { run } = acpx(world);
    await run("sessions", "new");
    expect(await run("prompt", "write it down")).toEqual(done("[done] end_turn"));
    const broken = run("prompt", "wait for me");
    await eventually(() => expect(world.hasModelReceived("wait for me")).toBe(true));
    const pid = (await readBridgeFile(world.data))?.pid ?? 0;
    process.kill(pid, "SIGKILL");
    expect((await broken).status).not.toBe(0);

    const next = await run("prompt", "still there?");
    expect(next).toEqual(done("You said: still there?"));
    expect(next.stdout).toContain("session/resume");
    expect(JSON.stringify(world.model.modelRequests.at(-1))).toContain("write it down");
    expect((await readBridgeFile(world.data))?.pid).not.toBe(pid);
  });
});
