import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFakeClock } from "../support/fake-clock.ts";
import { expectGone, isAlive } from "../support/processes.ts";
import { createTestWorkspace } from "../support/session/test-workspace.ts";

describe("run_command", () => {
  it("A command line returns its exit code and both outputs", async () => {
    const { run } = createTestWorkspace();
    const output = await run("run_command", { command: "echo out; echo err >&2; exit 3" });
    expect(output.text).toMatch(
      /^Exit code 3 after [\d.]+ seconds, not confined\nstdout:\nout\nstderr:\nerr$/,
    );
    expect(output.data).toEqual({
      exitCode: 3,
      signal: null,
      stopped: null,
      confined: false,
      outputBytes: 4,
      errorBytes: 4,
    });
    expect((await run("run_command", { command: "true" })).text).toContain(
      "The command produced no output.",
    );
  });

  it("A program gets its arguments unchanged, and the tool description prefers this form [B-251]", async () => {
    const { run, tools } = createTestWorkspace();
    const { text } = await run("run_command", { argv: ["printf", "%s|", "a b", "$HOME", "*", ""] });
    expect(text).toContain("stdout:\na b|$HOME|*||");
    expect(tools.get("run_command")?.spec.description).toContain(
      "Prefer argv (a program with its arguments)",
    );
  });

  it("A command runs in the workspace or in a folder of the workspace", async () => {
    const { run, root } = createTestWorkspace();
    mkdirSync(join(root, "src"));
    symlinkSync("src", join(root, "link"));
    const where = async (working_directory?: string) =>
      (
        await run("run_command", {
          command: "pwd -P",
          ...(working_directory !== undefined && { working_directory }),
        })
      ).text.split("\n")[2];
    expect(await where()).toBe(root);
    expect(await where("src")).toBe(join(root, "src"));
    expect(await where("link")).toBe(join(root, "src"));
  });

  it("A command does not run in outside or protected folders [W-04]", async () => {
    const { run, root, outside, write } = createTestWorkspace();
    symlinkSync(outside, join(root, "out"));
    write("file", "");
    const refused = (working_directory: string, reason: string) =>
      expect(run("run_command", { command: "pwd", working_directory })).rejects.toMatchObject({
        details: { reason },
      });
    await refused("..", "outside");
    await refused("out", "outside");
    await refused("/", "outside");
    await refused(".spanline", "protected");
    await refused("gone", "missing");
    await refused("file", "not_a_folder");
  });

  it("A command sees only a minimal environment without secrets", async () => {
    const environment = {
      PATH: process.env["PATH"] ?? "",
      HOME: "/home/somebody",
      LANG: "nl_NL.UTF-8",
      AWS_ACCESS_KEY_ID: "AKIASECRET",
      AWS_SECRET_ACCESS_KEY: "secret",
      OPENAI_API_KEY: "sk-secret",
      SPANLINE_TOKEN: "secret",
      NODE_OPTIONS: "--inspect",
      CI: "true",
      HTTPS_PROXY: "http://me:secret@proxy:8080",
    };
    const passEnvironment = ["CI", "HTTPS_PROXY", "NOT_THERE"];
    const { run } = createTestWorkspace({ environment, passEnvironment });
    const { text } = await run("run_command", { argv: ["env"] });
    // Variables which the starting shell sets itself.
    const lines = text
      .split("\n")
      .slice(2)
      .filter((line) => !/^(?:PWD|OLDPWD|SHLVL|_)=/.test(line));
    expect(lines.sort()).toEqual(
      [
        "CI=true",
        "HOME=/home/somebody",
        "LANG=nl_NL.UTF-8",
        `PATH=${environment.PATH}`,
        "TERM=dumb",
      ].sort(),
    );
    expect(text).not.toContain("secret");
  });

  it.each([
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "GITHUB_TOKEN",
    "DB_PASSWORD",
    "SSH_AUTH_SOCK",
    "MY_KEY",
    "A=B",
    "",
  ])("The variable %j cannot be passed to commands", (name) => {
    expect(() => createTestWorkspace({ passEnvironment: [name] })).toThrow(
      expect.objectContaining({ code: "invalid_option" }),
    );
  });

  it("The beginning and the end of a long output are kept, and the omitted bytes are counted", async () => {
    const { run } = createTestWorkspace({ limits: { outputBytes: 20 } });
    const { text, data } = await run("run_command", {
      command:
        "printf 'begin'; head -c 100000 /dev/zero | tr '\\0' 'é'; printf 'the end'; echo e >&2",
    });
    expect(text).toMatch(
      /stdout:\nbegin.*\n\[… \d+ bytes were omitted here …\]\n.*the end\nstderr:\ne$/su,
    );
    expect(data).toMatchObject({ exitCode: 0, errorBytes: 2 });
  });

  it("A command with too much output is stopped, and only the ends of the output are kept in memory", async () => {
    const { run } = createTestWorkspace({ limits: { floodBytes: 300_000_000 } });
    const before = process.memoryUsage().rss;
    let most = 0;
    let pid = 0;
    const { text, data } = await run(
      "run_command",
      { command: "yes flooding" },
      {
        progress: () => void (most = Math.max(most, process.memoryUsage.rss())),
        spawned: (id) => void (pid = id),
      },
    );
    expect(text).toContain("because it wrote too much output");
    expect(data).toMatchObject({ stopped: "flood", exitCode: null });
    expect(text.length).toBeLessThan(50_000);
    expect(most - before).toBeLessThan(200_000_000);
    await expectGone(pid);
  });

  it("A command ends at its time limit even if it ignores signals and has children", async () => {
    const clock = createFakeClock();
    const { run, root } = createTestWorkspace({ clock });
    const command = `trap '' TERM INT HUP; echo $$ > parent
      (trap '' TERM INT HUP; sleep 1000) & echo $! > child
      echo started; while :; do sleep 1000; done`;
    const output = await run(
      "run_command",
      { command, timeout_seconds: 30 },
      { progress: () => clock.advance(30_000) },
    );
    expect(output.text).toBe(
      "Stopped at its time limit, after 30 seconds, not confined\nstdout:\nstarted",
    );
    expect(output.data).toMatchObject({ stopped: "time", exitCode: null, signal: null });
    for (const name of ["child", "parent"]) {
      await expectGone(Number(readFileSync(join(root, name), "utf8")));
    }
  });

  it("The time limit of the workspace bounds the time limit of a command", async () => {
    const clock = createFakeClock();
    const { run, tools } = createTestWorkspace({ clock, limits: { commandMs: 5000 } });
    const call = { command: "echo started; sleep 1000", timeout_seconds: 1000 };
    const progress = (): void => clock.advance(5000);
    expect((await run("run_command", call, { progress })).data).toMatchObject({ stopped: "time" });
    expect(tools.get("run_command")?.spec.timeoutMs).toBeGreaterThan(5000);
  });

  it("Background processes are not waited for and are terminated", async () => {
    const { run, root } = createTestWorkspace();
    const { text, data } = await run("run_command", {
      command: "sleep 1000 & echo $! > pid; echo done",
    });
    expect(text).toMatch(
      /^Exit code 0 after .*; its background processes were ended, not confined/,
    );
    expect(text).toContain("stdout:\ndone");
    expect(data).toMatchObject({ exitCode: 0, stopped: "left" });
    await expectGone(Number(readFileSync(join(root, "pid"), "utf8")));
  });

  it("A command ends when its signal aborts", async () => {
    const { run } = createTestWorkspace();
    const controller = new AbortController();
    const pids: number[] = [];
    const running = run(
      "run_command",
      { command: "echo started; sleep 1000" },
      {
        signal: controller.signal,
        progress: () => controller.abort(new Error("enough")),
        spawned: (pid) => void pids.push(pid),
      },
    );
    await expect(running).rejects.toThrow("enough");
    for (const pid of pids) await expectGone(pid);
    expect(pids.map(isAlive)).toEqual([false]);
  });

  it("The result names the signal that ended the command", async () => {
    const { run } = createTestWorkspace();
    const { text, data } = await run("run_command", { command: "kill -9 $$" });
    expect(text).toMatch(/^Ended by SIGKILL after /);
    expect(data).toMatchObject({ exitCode: null, signal: "SIGKILL" });
  });

  it("The last output line is shown as progress", async () => {
    const { run } = createTestWorkspace();
    const lines: string[] = [];
    await run(
      "run_command",
      { command: "echo one; printf '\\033[31mtwo\\n'" },
      { progress: (line) => void lines.push(line) },
    );
    expect(lines.at(-1)).toBe(" [31mtwo");
  });

  it("Invalid commands are refused", async () => {
    const { run, root } = createTestWorkspace();
    const refused = (input: { readonly [name: string]: string | string[] }, message: string) =>
      expect(run("run_command", input)).rejects.toThrow(message);
    await refused({}, "Pass either command or argv");
    await refused({ command: "a", argv: ["b"] }, "Pass either command or argv");
    await refused({ command: "  " }, "empty");
    await refused({ argv: [] }, "empty");
    await refused({ argv: ["-a", "x"] }, "-a is not a program name");
    await refused({ command: "a\0b" }, "NUL");
    expect(readdirSync(root)).toEqual([".spanline"]);
  });

  it("The tool spec says that commands are not idempotent and not confined", () => {
    const facts = createTestWorkspace().tools.get("run_command")?.spec;
    expect(facts).toMatchObject({
      idempotent: false,
      traits: {
        kind: "execute",
        sideEffect: "process_exec",
        paths: ["working_directory"],
        capabilities: ["process.exec"],
        executor: { type: "builtin" },
        confined: false,
      },
    });
    expect(facts?.description).toContain("It is not confined");
  });
});
