import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";
import { eventually } from "../support/eventually.ts";
import { PROCESS_MS, withDeadline } from "../support/with-deadline.ts";

const NAMESPACE = ["--map-root-user", "--mount"];
const canMount =
  spawnSync("unshare", [...NAMESPACE, "sh", "-c", "mount -t tmpfs none /tmp"]).status === 0;

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

/**
 * Starts `spanline serve` with its data directory on a disk of `megabytes`. `prepare` is a shell command to run first.
 */
function serveOnSmallDisk(name: string, megabytes: number, prepare = "true") {
  const disk = join(command.folder, name);
  mkdirSync(disk);
  const script = `mount -t tmpfs -o size=${megabytes}m none "$0" && ${prepare} && exec "$@"`;
  const program = [process.execPath, join(command.folder, "bin/main.mjs")];
  const args = ["serve", "--port", "0", "--json", "--data-dir", join(disk, "data")];
  const child = spawn("unshare", [...NAMESPACE, "sh", "-c", script, disk, ...program, ...args], {
    env: { PATH: process.env["PATH"], HOME: command.folder, AWS_EC2_METADATA_DISABLED: "true" },
    cwd: command.folder,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, disk };
}

/** Fills the disk of another process except for 64 KiB. Returns a function for freeing the space. */
function fillDisk(child: ChildProcessWithoutNullStreams, disk: string): () => void {
  const file = `/proc/${child.pid}/root${disk}/filler`;
  const descriptor = openSync(file, "a");
  for (const size of [65_536, 4096])
    for (let isFull = false; !isFull;) {
      try {
        writeSync(descriptor, Buffer.alloc(size));
      } catch {
        isFull = true;
      }
    }
  ftruncateSync(descriptor, fstatSync(descriptor).size - 65_536);
  closeSync(descriptor);
  return () => rmSync(file);
}

describe.skipIf(!canMount)("A full disk (skipped without the permission to mount)", () => {
  it("/readyz is 503 while appends fail, and 200 when there is space again", async () => {
    const { child, disk } = serveOnSmallDisk("small", 6);
    let notes = "";
    child.stderr.on("data", (piece) => (notes += String(piece)));
    const { url } = JSON.parse(await waitForOutput(child.stdout, "}\n")) as { url: string };
    const readiness = async (): Promise<number> => (await fetch(`${url}/readyz`)).status;
    const ask = (input: string): Promise<Response> =>
      fetch(`${url}/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ input }),
      });
    expect((await ask("One")).status).toBe(200);
    expect(await readiness()).toBe(200);
    const free = fillDisk(child, disk);
    // The free space is enough for a change of a single row, but not for this prompt.
    expect((await ask("hello ".repeat(30_000))).status).toBe(507);
    for (let poll = 0; poll < 5; poll++) expect(await readiness()).toBe(503);
    free();
    await eventually(async () => expect(await readiness()).toBe(200));
    expect((await ask("Two")).status).toBe(200);
    const lines = notes.split("\n").filter((line) => line.includes("the disk is full"));
    expect(lines.length, notes).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/Fix: free some space$/);
  });

  it("A start on a full disk ends with a sentence that names the path", async () => {
    const prepare = `dd if=/dev/zero of="$0/filler" bs=4096 2>/dev/null; true`;
    const { child, disk } = serveOnSmallDisk("full", 1, prepare);
    const ended = Promise.all([text(child.stderr), once(child, "exit")]);
    const [notes, [status]] = await withDeadline(ended, () => "It did not exit", PROCESS_MS);
    expect(status).not.toBe(0);
    expect(notes).toContain(disk);
    expect(notes).toContain("the disk is full");
    expect(notes).not.toMatch(/ENOSPC|SQLITE|at .*:\d+:\d+/);
  });
});
