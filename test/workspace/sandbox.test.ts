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

/** A folder with a program that is called like bubblewrap. */
function fakeBubblewrap(script: string): { readonly folder: string; readonly program: string } {
  const folder = createTemporaryFolder();
  const program = join(folder, "bwrap");
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return { folder, program };
}

/** Runs the program and confines nothing. */
const RUN_IT = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"';

const isLinux = process.platform === "linux";
const path = process.env["PATH"] ?? "";

describe("what bubblewrap is called with", () => {
  const confinement = {
    root: "/work",
    workingDirectory: "/work/src",
    hidden: [
      { path: "/work/.spanline", type: "folder" },
      { path: "/work/spanline.config.json", type: "file" },
    ],
    network: false,
  } as const;

  it("binds the workspace over a machine that can only be read, and hides what is ours last", () => {
    expect(createBubblewrapArguments(confinement, ["/bin/sh", "-c", "ls"]).join(" ")).toBe(
      "--die-with-parent --new-session --unshare-all --cap-drop ALL --ro-bind / / --dev /dev --proc /proc " +
        "--tmpfs /tmp --tmpfs /run --ro-bind-try /run/current-system /run/current-system " +
        "--ro-bind-try /run/systemd/resolve /run/systemd/resolve --bind /work /work " +
        "--tmpfs /work/.spanline --remount-ro /work/.spanline --ro-bind /dev/null /work/spanline.config.json " +
        "--chdir /work/src -- /bin/sh -c ls",
    );
  });

  it("shares the network only when that is allowed", () => {
    const shared = createBubblewrapArguments({ ...confinement, network: true }, ["ls"]);
    expect(shared.slice(2, 4)).toEqual(["--unshare-all", "--share-net"]);
  });

  it("takes a program that begins with - for a program", () => {
    expect(createBubblewrapArguments(confinement, ["--bind", "/"]).slice(-3)).toEqual([
      "--",
      "--bind",
      "/",
    ]);
  });

  it("hides the keys that people keep, where they are, and nothing that holds the workspace", async () => {
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

describe.runIf(isLinux)("looking for a sandbox", () => {
  it("finds none where none is installed", async () => {
    expect(await findSandbox({ path: createTemporaryFolder(), workspaces: [] })).toEqual({
      reason: "bubblewrap (bwrap) is not installed",
    });
  });

  it("finds none in one that only runs programs: it is tried", async () => {
    const { folder, program } = fakeBubblewrap(RUN_IT);
    const { sandbox, reason } = await findSandbox({ path: folder, workspaces: [] });
    expect(sandbox).toBe(undefined);
    expect(reason).toBe(`${program} cannot be used: programs in it see hidden files`);
  });

  it("finds none in one that hides files and shares everything else", async () => {
    const hides =
      'for last; do :; done; rm -rf "$last/hidden" "$last/outside" "$last/workspace/file"; cd "$last/workspace"';
    const { folder } = fakeBubblewrap(`${hides}; ${RUN_IT}`);
    const { reason } = await findSandbox({ path: folder, workspaces: [] });
    // The machine of this test may be one that can only be read.
    expect(reason).toMatch(
      /programs in it (?:may write to the whole machine|share our mnt namespace)$/,
    );
  });

  it("tells what the program says that may not do its work", async () => {
    const { folder } = fakeBubblewrap(
      "echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
    );
    const { reason } = await findSandbox({ path: folder, workspaces: [] });
    expect(reason).toContain("cannot be used: bwrap: No permissions to create new namespace");
  });

  it("waits for none that hangs", async () => {
    const { folder } = fakeBubblewrap(`echo $$ > "$(dirname "$0")/pid"; sleep 1000`);
    const clock = createFakeClock();
    const search = findSandbox({ path: folder, workspaces: [], clock });
    // The file is there before the number is in it.
    const pid = await eventually(() => {
      const written = readFileSync(join(folder, "pid"), "utf8");
      expect([/^\d+\n$/.test(written), clock.pending]).toEqual([true, 1]);
      return Number(written);
    });
    clock.advance(10_000);
    expect((await search).reason).toContain("it does not finish");
    await expectGone(pid);
  });

  it("does not trust one that lies in a workspace, or in a folder without a place", async () => {
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
  it("calls it with the workspace, and says in its facts and in its result that it is confined", async () => {
    const { program, folder } = fakeBubblewrap(`echo "$@" > "$(dirname "$0")/args"; ${RUN_IT}`);
    const sandbox = { type: "bubblewrap", program, network: false } as const;
    const { run, tools, root, data } = createTestWorkspace({
      sandbox,
      environment: { PATH: path, TMPDIR: "/elsewhere", SPANLINE_SHELL: "/bin/sh" },
    });
    mkdirSync(join(root, "src"));
    const { text, data: told } = await run("run_command", {
      command: "echo $TMPDIR",
      working_directory: "src",
    });
    expect(text).toMatch(/^Exit code 0 after .* seconds, confined\nstdout:\n\/tmp$/);
    expect(told).toMatchObject({ confined: true });
    const args = readFileSync(join(folder, "args"), "utf8");
    expect(args).toContain(`--bind ${root} ${root} --tmpfs ${data} --remount-ro ${data}`);
    expect(args).toContain(`--chdir ${join(root, "src")} -- /bin/sh -c echo`);
    const facts = tools.get("run_command")?.spec;
    expect(facts?.traits?.confined).toBe(true);
    expect(facts?.description).toContain("It is confined: it writes only in the workspace");
    expect(facts?.description).toContain("it has no network");
  });

  it("does not run a command at all where the sandbox fails at that moment", async () => {
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
  `in a real sandbox (skipped without one; here: ${real.reason ?? "there is one"})`,
  () => {
    const confined = (home?: string) => {
      if (real.sandbox === undefined) throw new Error("There is no sandbox");
      const environment = { PATH: "/usr/bin:/bin", ...(home !== undefined && { HOME: home }) };
      return createTestWorkspace({ sandbox: real.sandbox, environment });
    };

    it("a command writes in the workspace, and nowhere else", async () => {
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

    it("a command sees neither our data, nor keys, nor our environment, nor other processes", async () => {
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

    it("a command reaches no network", async () => {
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

    it("a command ends with its call, though it left its session and ignores signals", async () => {
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
