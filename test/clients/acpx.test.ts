import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { readBridgeFile } from "../../src/bridge/owner/bridge-file.ts";
import { createAcpProject, type AcpProject } from "../support/acp/acp-project.ts";
import { createAcpx, type Acpx } from "../support/acp/acpx.ts";
import {
  createCommandLine,
  type CommandLine,
  type CommandResult,
} from "../support/command-line.ts";

const ACPX = dirname(createRequire(import.meta.url).resolve("acpx/package.json"));

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

/** A client which starts the bundled command as its agent. */
function acpx({ args, environment, project }: AcpProject): Acpx {
  const agentCommand = [process.execPath, join(command.folder, "bin/main.mjs"), ...args];
  return createAcpx({ acpxFolder: ACPX, agentCommand, project, environment });
}

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
