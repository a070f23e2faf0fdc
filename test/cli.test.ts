import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "spanline-cli-"));
const capture = join(root, "examples/captures/support-turn.eventstream");

/** The real command, built apart from `dist` so that tests can run beside a build. */
beforeAll(() => {
  const rolldown = join(root, "node_modules/.bin/rolldown");
  const args = ["-c", "--dir", join(folder, "dist"), "--logLevel", "silent"];
  const { status, stderr } = spawnSync(rolldown, args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  writeFileSync(join(folder, "package.json"), readFileSync(join(root, "package.json")));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function spanline(args: readonly string[], input?: Uint8Array) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, "dist/cli/main.js"), ...args],
    { input, encoding: "utf8", cwd: folder },
  );
  return { status, stdout, stderr };
}

describe("spanline", () => {
  it("shows help and version", () => {
    expect(spanline(["--help"])).toMatchObject({ status: 0, stderr: "" });
    expect(spanline(["--help"]).stdout).toContain("inspect [options] [file]");
    expect(spanline(["--version"]).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("names the next step when the command line cannot be used", () => {
    const { status, stderr } = spanline(["inspct", "x"]);
    expect(status).toBe(2);
    expect(stderr).toContain("Did you mean inspect?");
    expect(spanline(["inspect", capture, "--format", "xml"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("Allowed choices are text, json, events, open-responses"),
    });
    expect(spanline([]).status).toBe(2);
  });

  it("inspects a file without colours when nobody watches", () => {
    const { status, stdout, stderr } = spanline(["inspect", capture]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^assistant\n {2}~ The customer/);
  });

  it("inspects standard input", () => {
    expect(spanline(["inspect", "-", "--json"], readFileSync(capture))).toMatchObject({
      status: 0,
    });
  });

  it.each([
    ["nowhere.bin", "Cannot read nowhere.bin: there is no such file\n"],
    [".", "Cannot read .: it is a folder; name a file, or - for standard input\n"],
  ])("gives one clear line and exit code 2 for %s", (file, stderr) => {
    expect(spanline(["inspect", file])).toEqual({ status: 2, stdout: "", stderr });
  });

  it("gives one clear line and exit code 2 for a file that is no stream", () => {
    writeFileSync(join(folder, "photo.png"), Buffer.from("89504e470d0a1a0a0000", "hex"));
    const { status, stdout, stderr } = spanline(["inspect", "photo.png"]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toBe(
      "Cannot read photo.png: found binary data that begins 89 50 4e 47 0d 0a 1a 0a 00 00; " +
        "supported are AWS event streams, SSE, JSON arrays and JSON lines\n",
    );
  });

  it("ends quietly when the reader of its output leaves", () => {
    const script = `"${process.execPath}" "${join(folder, "dist/cli/main.js")}" inspect "${capture}" --format events | head -n 1`;
    const { status, stdout, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", script], {
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.split("\n")).toHaveLength(2);
  });
});
