import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startEmulator, type Emulator } from "../../src/emulator/start-emulator.ts";
import type { EmulatorOptions } from "../../src/emulator/emulator-options.ts";
import { bundleProgram } from "../support/bundle-program.ts";
import { ROLE } from "../support/server/scripted-control-plane.ts";
import { PROCESS_MS, withDeadline } from "../support/with-deadline.ts";

/** Program which runs a command on a pseudo-terminal. */
const TERMINAL = "script";

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface StartedPlane {
  readonly ended: Promise<Ended>;
  /** Resolves when stderr contains these words. */
  said(words: string): Promise<void>;
  type(text: string): void;
  interrupt(): void;
}

interface Place {
  readonly emulator: Emulator;
  readonly folder: string;
  readonly start: (...args: readonly string[]) => StartedPlane;
  readonly run: (...args: readonly string[]) => Promise<Ended>;
  /** Whether the emulator has a harness named `support`. */
  readonly hasSupport: () => Promise<boolean>;
  /** Runs the command on a terminal, where stdout and stderr are the same stream. */
  readonly atTerminal: (...args: readonly string[]) => StartedPlane;
}

/** Runs the real command in separate processes, with an emulator. */
async function place(options: EmulatorOptions = {}): Promise<Place> {
  const [program, emulator] = await Promise.all([
    bundleProgram("harness-command.ts"),
    startEmulator({ signatures: "strict", ...options }),
  ]);
  const folder = mkdtempSync(join(tmpdir(), "spanline-harness-"));
  onTestFinished(async () => {
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const command = [process.execPath, program, "harness"];
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    AWS_ENDPOINT_URL_BEDROCK_AGENTCORE_CONTROL: emulator.url,
  };
  const begin = ([file = "", ...args]: readonly string[]): StartedPlane => {
    const child = spawn(file, args, { cwd: folder, env });
    onTestFinished(() => void child.kill("SIGKILL"));
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => (stdout += String(chunk)));
    child.stderr.on("data", (chunk) => (stderr += String(chunk)));
    return {
      async said(words) {
        while (!(stdout + stderr).includes(words)) {
          const more = Promise.race([once(child.stdout, "data"), once(child.stderr, "data")]);
          await withDeadline(
            more,
            () => `"${words}" was not printed: ${stdout}${stderr}`,
            PROCESS_MS,
          );
        }
      },
      type: (text) => void child.stdin.write(text),
      interrupt: () => void child.kill("SIGINT"),
      ended: once(child, "close").then(([status]) => ({
        status: status as number | null,
        stdout,
        stderr,
      })),
    };
  };
  const start = (...args: readonly string[]): StartedPlane => begin([...command, ...args]);
  return {
    emulator,
    folder,
    start,
    run: (...args) => start(...args).ended,
    async hasSupport() {
      const { stdout } = await start("list", "--prefix", "support").ended;
      return stdout !== "";
    },
    atTerminal(...args) {
      const line = [...command, ...args].map((word) => `'${word}'`).join(" ");
      return begin([TERMINAL, "-qefc", line, "/dev/null"]);
    },
  };
}

const hasTerminal = spawnSync(TERMINAL, ["--version"]).status === 0;

const CREATE = ["create", "--name", "support", "--role", ROLE, "--system-prompt", "Be brief."];

describe("spanline harness", () => {
  it("The command creates, shows, lists, updates, waits for and deletes a harness", async () => {
    const { run } = await place();
    const created = await run(...CREATE);
    expect(created).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^Created in \d+ s\.\n$/),
    });
    expect(created.stdout).toMatch(
      /^support\n {2}arn {7}arn:aws:bedrock-agentcore:us-east-1:123456789012:harness\/support-\w{10}\n {2}id {8}support-\w{10}\n {2}endpoint {2}DEFAULT\n$/,
    );
    const { stdout: shownHarness } = await run("get", "support");
    expect(shownHarness).toContain("status    READY");
    expect(shownHarness).toContain("endpoint  DEFAULT READY, version 1");
    const { stdout: list } = await run("list");
    expect(list).toMatch(/^NAME +STATUS +VERSION +UPDATED +ID\ndemo +READY .*\nsupport +READY /);
    const updated = await run("update", "support", "--system-prompt", "Be kind.", "--json");
    expect(JSON.parse(updated.stdout)).toMatchObject({ name: "support", version: "2" });
    expect(await run("wait", "support")).toMatchObject({ status: 0, stderr: "" });
    const arn = /arn:\S+/.exec(created.stdout)?.[0] ?? "";
    const { stdout: json } = await run("get", arn, "--json", "--redact");
    expect(JSON.parse(json)).toMatchObject({
      arn: arn.replace("123456789012", "000000000001"),
      systemPrompt: [{ text: "Be kind." }],
      endpoints: [{ endpointName: "DEFAULT", liveVersion: "2" }],
    });
    expect(await run("delete", "support", "--yes")).toEqual({
      status: 0,
      stdout: "",
      stderr: "Harness support is deleted.\n",
    });
    expect(await run("wait", "support", "--gone")).toMatchObject({ status: 0 });
  });

  it("The command creates a harness from a file once, by its content, and finds it by its tag", async () => {
    const { run, folder } = await place();
    const spec = { name: "support", roleArn: ROLE, systemPrompt: "Be brief.", maxTokens: 50 };
    writeFileSync(join(folder, "spec.json"), JSON.stringify(spec));
    const args = ["create", "--spec", "spec.json", "--tag", "live", "--json"];
    const first = JSON.parse((await run(...args)).stdout);
    expect(first).toMatchObject({
      name: expect.stringMatching(/^support_[0-9a-f]{8}$/),
      origin: "created",
    });
    const again = JSON.parse((await run(...args)).stdout);
    expect(again).toEqual({ ...first, origin: "remembered" });
    const { stdout } = await run("get", "support:live");
    expect(stdout).toContain(first.id);
    expect(await run("get", "support:old")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(
        'Harness tag "support:old" does not exist: expected "support:live"',
      ),
    });
    expect(existsSync(join(folder, ".local/state/spanline/harness-handles.json"))).toBe(true);
  });

  it("prune deletes untagged old harnesses and requires --yes without a terminal", async () => {
    const { run, folder } = await place();
    const store = join(folder, "store.json");
    for (const [at, prompt] of ["one", "two", "three"].entries()) {
      const tag = at === 0 ? ["--tag", "first"] : ["--content-name"];
      const made = await run(
        ...CREATE.slice(0, 5),
        "--system-prompt",
        prompt,
        ...tag,
        "--store",
        store,
      );
      expect(made.status).toBe(0);
    }
    const prune = ["prune", "support", "--keep", "1", "--store", store];
    const dry = await run(...prune, "--dry-run");
    expect(dry.status).toBe(0);
    expect(dry.stderr.match(/keep/g)).toHaveLength(2);
    expect(dry.stderr.match(/delete/g)).toHaveLength(1);
    expect(await run(...prune)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("No terminal is available for confirmation. Fix: add --yes."),
    });
    expect(await run(...prune, "--yes")).toMatchObject({ status: 0, stdout: "1 of 1 deleted\n" });
    const { deleted } = JSON.parse((await run(...prune, "--yes", "--json")).stdout);
    expect(deleted).toEqual([]);
    expect(JSON.parse(readFileSync(store, "utf8")).handles).toBeDefined();
  });

  it("create reports an existing harness and its differences", async () => {
    const { run } = await place();
    await run(...CREATE);
    const other = await run(...CREATE.slice(0, 5), "--system-prompt", "Be long.");
    expect(other).toMatchObject({
      status: 0,
      stderr:
        "It already exists.\nIt differs from the spec in: systemPrompt. Fix: `spanline harness update support`.\n",
    });
  });

  it.each([
    [
      "a missing name",
      ["create", "--role", ROLE],
      "name is missing: expected the name of the harness\nFix: set --name",
    ],
    ["a blank role", ["create", "--name", "a", "--role", " "], "--role is"],
    ["no such file", ["create", "--spec", "none.yaml"], "Cannot read none.yaml: file not found"],
    ["nothing to change", ["update", "demo"], "name the changes"],
    [
      "an invalid endpoint",
      ["create", "--name", "a", "--role", ROLE, "--endpoint", "a-b"],
      "--endpoint is",
    ],
    ["an invalid number", ["list", "--timeout", "soon"], "an integer greater than 0"],
    ["a missing --keep", ["prune", "demo"], "required option '--keep <number>' not specified"],
    ["an unknown command", ["crate"], "Did you mean create?"],
    [
      "a different region in the ARN",
      [
        "get",
        "arn:aws:bedrock-agentcore:eu-west-1:123456789012:harness/a-a1b2c3d4e5",
        "--region",
        "us-east-1",
      ],
      "is in eu-west-1",
    ],
    [
      "an invalid address",
      ["list", "--endpoint-url", "nonsense", "--region", "us-east-1"],
      "--endpoint-url is",
    ],
    [
      "--content-name and --no-wait",
      ["create", "--content-name", "--no-wait", "--name", "a", "--role", ROLE],
      "cannot be used with",
    ],
  ])("A command line with %s is refused", async (_, args, words) => {
    const { run } = await place();
    const { status, stdout, stderr } = await run(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(words);
  });

  it("An error names the next step", async () => {
    const { run, emulator } = await place();
    expect(await run("get", "nobody")).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /Harness "nobody" does not exist at .*\nFix: .*`spanline harness list`/,
      ),
    });
    emulator.inject({
      harnessName: "support",
      change: "create",
      status: "CREATE_FAILED",
      failureReason: "No such role",
    });
    expect(await run(...CREATE)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("CREATE_FAILED: No such role"),
    });
    const { stdout } = await run("list", "--prefix", "support");
    expect(stdout).toBe("");
    await emulator.close();
    const gone = await run("list", "--timeout", "2");
    expect(gone.status).toBe(1);
    expect(gone.stderr).toContain("check --region and --endpoint-url");
  });

  it("create deletes its harness when it is interrupted", async () => {
    const { start, run, hasSupport } = await place({
      delays: { create: 60_000 },
      deleteWhileCreating: "accept",
    });
    const started = start(...CREATE);
    await eventually(async () => expect(await hasSupport()).toBe(true));
    started.interrupt();
    expect(await started.ended).toEqual({
      status: 130,
      stdout: "",
      stderr: "\nStopping after cleanup. Press Ctrl-C again to exit now.\nStopped.\n",
    });
    expect((await run("list", "--prefix", "support")).stdout).toBe("");
  });

  it("create exits at once when it is interrupted twice", async () => {
    const { start, hasSupport } = await place({
      delays: { create: 60_000 },
      deleteWhileCreating: "409",
    });
    const started = start(...CREATE);
    await eventually(async () => expect(await hasSupport()).toBe(true));
    started.interrupt();
    await started.said("Ctrl-C again");
    started.interrupt();
    expect((await started.ended).status).toBe(130);
  });

  it("Every command has help with examples", async () => {
    const { run } = await place();
    const help = await run("--help");
    expect(help).toMatchObject({ status: 0, stderr: "" });
    for (const name of ["create", "get", "list", "update", "delete", "wait", "prune"]) {
      expect(help.stdout).toContain(`  ${name} [options]`);
    }
    expect((await run("create", "--help")).stdout).toContain("roleArn: arn:aws:iam");
  });

  // A pseudo-terminal needs an external program.
  describe.runIf(hasTerminal)("At a terminal", () => {
    it("Progress is shown and cleared", async () => {
      const { atTerminal } = await place({ delays: { create: 300 } });
      const { status, stdout } = await atTerminal(...CREATE, "--timeout", "3").ended;
      expect(status).toBe(0);
      expect(stdout).toMatch(/\[Ksupport-\w{10}: CREATING \(\d+ s\)/);
      expect(stdout).toMatch(/Created in \d+ s\./);
    });

    it.each([
      ["y", "Harness support is deleted.", 0],
      ["n", "Nothing was deleted.", 1],
    ])("delete asks for confirmation and accepts %s", async (answer, words, status) => {
      const { atTerminal, run } = await place();
      await run(...CREATE);
      const asking = atTerminal("delete", "support");
      await asking.said("[y/N]");
      asking.type(`${answer}\n`);
      const ended = await asking.ended;
      expect(ended.stdout).toContain(words);
      expect(ended.status).toBe(status);
    });
  });
});
