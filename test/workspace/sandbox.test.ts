import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createBubblewrapArguments } from "../../src/tools/workspace/sandbox/bubblewrap-arguments.ts";
import { findSandbox } from "../../src/tools/workspace/sandbox/find-sandbox.ts";
import { findHiddenPaths } from "../../src/tools/workspace/sandbox/hidden-paths.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { expectGone } from "../support/processes.ts";
import { createTestWorkspace, createTemporaryFolder } from "../support/session/test-workspace.ts";

/** A folder with a fake bubblewrap program. */
function fakeBubblewrap(script: string): { readonly folder: string; readonly program: string } {
  const folder = createTemporaryFolder();
  const program = join(folder, "bwrap");
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return { folder, program };
}

/** Runs the program without any confinement. */
const RUN_IT = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"';

const isLinux = process.platform === "linux";
const path = process.env["PATH"] ?? "";

describe("Arguments of bubblewrap", () => {
  const confinement = {
    root: "/work",
    workingDirectory: "/work/src",
    hidden: [
      { path: "/work/.spanline", type: "folder" },
      { path: "/work/spanline.config.json", type: "file" },
    ],
    network: false,
  } as const;

  it("The workspace is bound over a read-only machine, and protected paths are hidden last", () => {
    expect(createBubblewrapArguments(confinement, ["/bin/sh", "-c", "ls"]).join(" ")).toBe(
      "--die-with-parent --new-session --unshare-all --cap-drop ALL --ro-bind / / --dev /dev --proc /proc " +
        "--tmpfs /tmp --tmpfs /run --ro-bind-try /run/current-system /run/current-system " +
        "--ro-bind-try /run/systemd/resolve /run/systemd/resolve --bind /work /work " +
        "--tmpfs /work/.spanline --remount-ro /work/.spanline --ro-bind /dev/null /work/spanline.config.json " +
        "--chdir /work/src -- /bin/sh -c ls",
    );
  });

  it("The network is shared only if the configuration allows it", () => {
    const shared = createBubblewrapArguments({ ...confinement, network: true }, ["ls"]);
    expect(shared.slice(2, 4)).toEqual(["--unshare-all", "--share-net"]);
  });

  it("A program whose name starts with - is passed as a program", () => {
    expect(createBubblewrapArguments(confinement, ["--bind", "/"]).slice(-3)).toEqual([
      "--",
      "--bind",
      "/",
    ]);
  });

  it("Existing key files of the user are hidden, but no folder that contains the workspace", async () => {
    const { root, data, base } = createTestWorkspace();
    mkdirSync(join(base, ".ssh"));
    writeFileSync(join(base, ".netrc"), "");
    symlinkSync(join(base, ".ssh"), join(base, ".aws"));
    const missing = join(root, "not-there");
    expect(await findHiddenPaths([root], [data, missing, base], base)).toEqual([
      { path: data, type: "folder" },
      { path: join(base, ".ssh"), type: "folder" },
      { path: join(base, ".netrc"), type: "file" },
    ]);
    expect(await findHiddenPaths([join(base, ".ssh")], [], base)).toEqual([
      { path: join(base, ".netrc"), type: "file" },
    ]);
  });
});

describe.runIf(isLinux)("Finding a sandbox", () => {
  it("No sandbox is found if bubblewrap is not installed", async () => {
    expect(await findSandbox({ path: createTemporaryFolder(), workspaces: [] })).toEqual({
      reason: "bubblewrap (bwrap) is not installed",
    });
  });

  it("A program that only runs commands is rejected by the self-test", async () => {
    const { folder, program } = fakeBubblewrap(RUN_IT);
    const { sandbox, reason } = await findSandbox({ path: folder, workspaces: [] });
    expect(sandbox).toBe(undefined);
    expect(reason).toBe(`${program} cannot be used: programs in it see hidden files`);
  });

  it("A program that hides files but shares everything else is rejected", async () => {
    const hides =
      'for last; do :; done; rm -rf "$last/hidden" "$last/outside" "$last/workspace/file"; cd "$last/workspace"';
    const { folder } = fakeBubblewrap(`${hides}; ${RUN_IT}`);
    const { reason } = await findSandbox({ path: folder, workspaces: [] });
    // The machine of this test may be read-only.
    expect(reason).toMatch(
      /programs in it (?:may write to the whole machine|share our mnt namespace)$/,
    );
  });

  it("The error output of a program that cannot create a sandbox is reported", async () => {
    const { folder } = fakeBubblewrap(
      "echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
    );
    const { reason } = await findSandbox({ path: folder, workspaces: [] });
    expect(reason).toContain("cannot be used: bwrap: No permissions to create new namespace");
  });

  it("A program that hangs is stopped after a time limit", async () => {
    const { folder } = fakeBubblewrap(`echo $$ > "$(dirname "$0")/pid"; sleep 1000`);
    const clock = createFakeClock();
    const search = findSandbox({ path: folder, workspaces: [], clock });
    // The file exists before the number is written.
    const pid = await eventually(() => {
      const written = readFileSync(join(folder, "pid"), "utf8");
      expect([/^\d+\n$/.test(written), clock.pending]).toEqual([true, 1]);
      return Number(written);
    });
    clock.advance(10_000);
    expect((await search).reason).toContain("it does not finish");
    await expectGone(pid);
  });

  it("A bubblewrap inside a workspace or in a relative PATH folder is not trusted", async () => {
    const { folder } = fakeBubblewrap(RUN_IT);
    for (const search of [
      { path: `.:bin:${folder}`, workspaces: [folder] },
      { path: ":.:bin", workspaces: [] },
    ]) {
      expect(await findSandbox(search)).toEqual({ reason: "bubblewrap (bwrap) is not installed" });
    }
  });
});

describe("run_command in a sandbox", () => {
  it("A command runs in the sandbox with the workspace, and its spec and result say that it is confined", async () => {
    const { program, folder } = fakeBubblewrap(`echo "$@" > "$(dirname "$0")/args"; ${RUN_IT}`);
    const sandbox = { type: "bubblewrap", program, network: false } as const;
    const { run, tools, root, data } = createTestWorkspace({
      sandbox,
      environment: { PATH: path, TMPDIR: "/elsewhere", SPANLINE_SHELL: "/bin/sh" },
    });
    mkdirSync(join(root, "src"));
    const { text, data: resultData } = await run("run_command", {
      command: "echo $TMPDIR",
      working_directory: "src",
    });
    expect(text).toMatch(/^Exit code 0 after .* seconds, confined\nstdout:\n\/tmp$/);
    expect(resultData).toMatchObject({ confined: true });
    const args = readFileSync(join(folder, "args"), "utf8");
    expect(args).toContain(`--bind ${root} ${root} --tmpfs ${data} --remount-ro ${data}`);
    expect(args).toContain(`--chdir ${join(root, "src")} -- /bin/sh -c echo`);
    const facts = tools.get("run_command")?.spec;
    expect(facts?.traits?.confined).toBe(true);
    expect(facts?.description).toContain("It is confined: it writes only in the workspace");
    expect(facts?.description).toContain("it has no network");
  });

  it("A command does not run if the sandbox fails to start", async () => {
    const { program } = fakeBubblewrap("echo 'bwrap: no more' >&2; exit 1");
    const { run, root } = createTestWorkspace({
      sandbox: { type: "bubblewrap", program, network: false },
    });
    const { text } = await run("run_command", { command: "touch made" });
    expect(text).toContain("Exit code 1");
    expect(text).toContain("bwrap: no more");
    expect(existsSync(join(root, "made"))).toBe(false);
  });
});

const real = isLinux
  ? await findSandbox({ path, workspaces: [] })
  : { reason: "bubblewrap requires Linux" };

describe.skipIf(real.sandbox === undefined)(
  `In a real sandbox (skipped without one; here: ${real.reason ?? "available"})`,
  () => {
    const confined = (home?: string) => {
      if (real.sandbox === undefined) throw new Error("No sandbox is available");
      const environment = { PATH: "/usr/bin:/bin", ...(home !== undefined && { HOME: home }) };
      return createTestWorkspace({ sandbox: real.sandbox, environment });
    };

    it("A confined command can write only to the workspace", async () => {
      const { run, root, outside } = confined();
      const { text } = await run("run_command", {
        command: `echo in > made; echo out > ${outside}/made; echo etc > /etc/spanline-made; echo tmp > /tmp/made && cat made /tmp/made`,
      });
      expect(text).toContain("stdout:\nin\ntmp");
      expect(readFileSync(join(root, "made"), "utf8")).toBe("in\n");
      expect([
        existsSync(join(outside, "made")),
        existsSync("/etc/spanline-made"),
        existsSync("/tmp/made"),
      ]).toEqual([false, false, false]);
    });

    it("A confined command sees neither our data, keys, environment nor other processes", async () => {
      const home = createTemporaryFolder();
      mkdirSync(join(home, ".ssh"));
      writeFileSync(join(home, ".ssh", "id"), "secret key");
      const { run, data } = confined(home);
      const { text } = await run("run_command", {
        command: `ls -A ${data}; cat ${data}/log.db ${home}/.ssh/id; echo x > ${data}/made; ls -d /proc/[0-9]* | wc -l; cat /proc/1/environ /proc/${process.pid}/environ | tr '\\0' '\\n' | grep -c VITEST`,
      });
      expect(text).not.toMatch(/secret/);
      const counts = text.split("stderr:")[0]?.trim().split("\n").slice(-2).map(Number);
      expect(counts?.[0]).toBeLessThan(10);
      expect(counts?.[1]).toBe(0);
      expect(existsSync(join(data, "made"))).toBe(false);
    });

    it("A confined command has no network", async () => {
      let connections = 0;
      const server = createServer(() => void (connections += 1)).listen(0, "127.0.0.1");
      onTestFinished(() => void server.close());
      await new Promise((resolve) => server.once("listening", resolve));
      const address = server.address();
      const port = typeof address === "object" ? address?.port : 0;
      const script = `require("net").connect(${port}, "127.0.0.1").on("error", (e) => console.log(e.code)).on("connect", () => process.exit())`;
      const { run } = confined();
      const { text } = await run("run_command", { argv: [process.execPath, "-e", script] });
      expect(text).toContain("ECONNREFUSED");
      expect(connections).toBe(0);
    });

    it("A confined command ends with its tool call even if it left its session and ignores signals", async () => {
      const { run, root } = confined();
      const pids: number[] = [];
      const { data } = await run(
        "run_command",
        {
          command:
            "setsid sh -c \"trap '' TERM HUP; touch alive; sleep 1000\" & while [ ! -e alive ]; do :; done; echo done",
        },
        { spawned: (pid) => void pids.push(pid) },
      );
      expect(data).toMatchObject({ exitCode: 0, confined: true });
      for (const pid of pids) await expectGone(pid);
      expect(existsSync(join(root, "alive"))).toBe(true);
    });
  },
);
