import { spawnSync, type ChildProcessWithoutNullStreams } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createCommandLine, type CommandLine } from "../support/command-line.ts";

const root = join(import.meta.dirname, "../..");
const capture = join(root, "examples/captures/support-turn.eventstream");

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
  return () => command.close();
});

function spanline(args: readonly string[], input: string | Uint8Array = "") {
  return command.run(args, { input });
}

/** A megabyte of an SSE stream, comments only. */
const COMMENTS = ": still here\n\n".repeat(75_000);

/** Starts the command with an open standard input, and with standard error as a terminal. */
function running(args: readonly string[]): ChildProcessWithoutNullStreams {
  const child = command.start(args, { isOpen: true, isWatched: true });
  // The command may end before reading all of its input.
  child.stdin.on("error", () => {});
  return child;
}

/** Reads standard error until the expected text arrives. */
async function waitForNote(
  child: ChildProcessWithoutNullStreams,
  expected: string,
): Promise<string> {
  let notes = "";
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    notes += String(chunk);
    if (notes.includes(expected)) return notes;
  }
  throw new Error(`ended without "${expected}": ${notes}`);
}

/** Resolves at the exit of the command, with the standard error since the call. */
function exited(child: ChildProcessWithoutNullStreams) {
  let stderr = "";
  child.stderr.on("data", (chunk) => void (stderr += String(chunk)));
  return new Promise<{ code: number | null; signal: string | null; stderr: string }>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, stderr }));
  });
}

describe("spanline", () => {
  it("--help prints the help and --version prints the version", async () => {
    expect(await spanline(["--help"])).toMatchObject({ status: 0, stderr: "" });
    expect((await spanline(["--help"])).stdout).toContain("inspect [options] [file]");
    expect((await spanline(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("An invalid command line is refused with a suggestion", async () => {
    const { status, stderr } = await spanline(["inspct", "x"]);
    expect(status).toBe(2);
    expect(stderr).toContain('Command "inspct" does not exist. Fix: did you mean "inspect"?');
    const unlike = (await spanline(["nope"])).stderr;
    expect(unlike).toContain('error: Command "nope" does not exist: expected "');
    expect(unlike).not.toContain("did you mean");
    expect((await spanline(["harness", "crate"])).stderr).toMatch(
      /^error: Command "crate" does not exist\. Fix: did you mean "create"\?\n/,
    );
    expect((await spanline(["inspect", capture, "--formta", "xml"])).stderr).toContain(
      'error: Option "--formta" does not exist. Fix: did you mean "--format"?\n',
    );
    expect(await spanline(["inspect", capture, "--format", "xml"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("Allowed choices are text, json, events, open-responses"),
    });
    expect((await spanline([])).status).toBe(2);
  });

  it("inspect prints a file without colors if the output is not a terminal", async () => {
    const { status, stdout, stderr } = await spanline(["inspect", capture]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^assistant\n {2}~ The customer/);
  });

  it("inspect reads standard input", async () => {
    expect(await spanline(["inspect", "-", "--json"], readFileSync(capture))).toMatchObject({
      status: 0,
    });
  });

  it.each([
    ["nowhere.bin", "Cannot read nowhere.bin: no such file\n"],
    [".", "Cannot read .: it is a folder. Fix: name a file, or - for standard input\n"],
  ])("inspect of %s prints one clear line and exits with 2", async (file, stderr) => {
    expect(await spanline(["inspect", file])).toEqual({ status: 2, stdout: "", stderr });
  });

  it("inspect of a file that is not a stream prints one clear line and exits with 2", async () => {
    writeFileSync(join(command.folder, "photo.png"), Buffer.from("89504e470d0a1a0a0000", "hex"));
    const { status, stdout, stderr } = await spanline(["inspect", "photo.png"]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toBe(
      "Cannot read photo.png: found binary data that starts with 89 50 4e 47 0d 0a 1a 0a 00 00; " +
        "supported are AWS event streams, SSE, JSON arrays, JSON lines and the emulator's recordings\n",
    );
  });

  it("inspect of JSON that is not a capture prints one clear line and exits with 2", async () => {
    writeFileSync(join(command.folder, "package.json"), readFileSync(join(root, "package.json")));
    expect(await spanline(["inspect", "package.json"])).toEqual({
      status: 2,
      stdout: "",
      stderr:
        "Cannot read package.json: found JSON without any event of a known stream; supported are " +
        "AWS event streams, SSE, JSON arrays, JSON lines and the emulator's recordings, and any JSON response of an app with --as json\n",
    });
    expect(await spanline(["inspect", "package.json", "--as", "json"])).toMatchObject({
      status: 0,
      stderr: "",
    });
  });

  it("An interrupted inspect clears its progress and exits with 130", async () => {
    const child = running(["inspect", "-"]);
    for (let megabytes = 0; megabytes < 9; megabytes++) child.stdin.write(COMMENTS);
    const notes = await waitForNote(child, "Reading standard input: 8 MB");
    child.kill("SIGINT");
    const ended = await exited(child);
    expect(ended.code).toBe(130);
    expect((notes + ended.stderr).endsWith("MB\r\u001b[K")).toBe(true);
  });

  it("inspect stops reading if the reader of its output leaves before any output", async () => {
    const child = running(["inspect", "-", "--json"]);
    const isOver = exited(child);
    child.stdout.destroy();
    const feed = (error?: Error | null): void => {
      if (!error) child.stdin.write(COMMENTS, feed);
    };
    feed();
    expect(await isOver).toEqual({ code: 0, signal: null, stderr: "" });
  });

  it("inspect ends without an error if the reader of its output leaves", () => {
    const script = `"${process.execPath}" "${join(command.folder, "bin/main.mjs")}" inspect "${capture}" --format events | head -n 1`;
    const { status, stdout, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", script], {
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.split("\n")).toHaveLength(2);
  });
});
