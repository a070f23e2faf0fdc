import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readlink, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, isAbsolute } from "node:path";
import { formatThrown } from "../../../domain/errors.ts";
import { systemClock, type Clock } from "../../../platform/clock.ts";
import { startGatedProcess } from "../../../platform/process/gated-process.ts";
import { isProgram } from "../../../platform/process/is-program.ts";
import { followPath } from "../paths/follow-path.ts";
import { isWithin } from "../paths/protected-paths.ts";
import { createBoundedOutput } from "../text/bounded-output.ts";
import { createBubblewrapArguments } from "./bubblewrap-arguments.ts";

export interface SandboxSearch {
  /** The `PATH` of this process. */
  readonly path: string;
  /** The workspaces. A program inside a workspace is not trusted as a sandbox: the agent could have written it. */
  readonly workspaces: readonly string[];
  /** Whether commands may use the network. Default: false. */
  readonly network?: boolean;
  readonly clock?: Clock;
}

export type FoundSandbox =
  | { readonly sandbox: Sandbox; readonly reason?: undefined }
  | { readonly sandbox?: undefined; readonly reason: string };

/**
 * Finds bubblewrap and tests it: it is used only if a test program is really isolated. On many systems bubblewrap is
 * installed but blocked.
 */
export async function findSandbox(search: SandboxSearch): Promise<FoundSandbox> {
  const { path, workspaces, network = false, clock = systemClock } = search;
  if (process.platform !== "linux") return { reason: "bubblewrap requires Linux" };
  const program = await findProgram("bwrap", path, workspaces);
  if (program === undefined) return { reason: "bubblewrap (bwrap) is not installed" };
  const sandbox: Sandbox = { type: "bubblewrap", program, network };
  const folder = await realpath(await mkdtemp(join(tmpdir(), "spanline-sandbox-")));
  try {
    const problem = await testSandbox(sandbox, folder, clock);
    return problem === undefined
      ? { sandbox }
      : { reason: `${program} cannot be used: ${problem}` };
  } catch (error) {
    return { reason: `${program} could not be tested: ${formatThrown(error)}` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the problem of a sandbox. Undefined if it works. */
async function testSandbox(
  sandbox: Sandbox,
  folder: string,
  clock: Clock,
): Promise<string | undefined> {
  const root = join(folder, "workspace");
  const hidden = join(folder, "hidden");
  const outside = join(folder, "outside");
  for (const place of [root, hidden, outside]) await mkdir(place);
  await writeFile(join(hidden, "secret"), "");
  await writeFile(join(root, "file"), "");
  const confinement = {
    root,
    workingDirectory: root,
    hidden: [
      { path: hidden, type: "folder" },
      { path: join(root, "file"), type: "file" },
    ],
    network: sandbox.network,
  } as const;
  const args = createBubblewrapArguments(confinement, [
    "/bin/sh",
    "-c",
    TEST_SCRIPT,
    "trial",
    folder,
  ]);
  const { output, errors, isOver } = await runWithTimeout(sandbox.program, args, clock);
  if (!isOver) return "it does not finish";
  const lines = output.split("\n");
  if (!lines.includes("done")) return errors.trim().slice(0, 300) || "it does not run programs";
  const complaint = lines.find((line) => line.startsWith("! "));
  if (complaint !== undefined) return complaint.slice(2);
  if (existsSync(join(outside, "made"))) return "programs in it write outside the workspace";
  if (!existsSync(join(root, "made"))) return "programs in it do not write in the workspace";
  for (const name of sandbox.network ? NAMESPACES : [...NAMESPACES, "net"]) {
    const hostNamespace = await readlink(`/proc/self/ns/${name}`);
    if (lines.includes(hostNamespace)) return `programs in it share our ${name} namespace`;
  }
  return undefined;
}

const NAMESPACES = ["mnt", "pid", "ipc"];

/** Runs in the sandbox and reports every missing restriction. */
const TEST_SCRIPT = `
[ ! -e "$1/hidden/secret" ] || echo "! programs in it see hidden files"
cat "$1/workspace/file" 2>/dev/null && echo "! programs in it read a hidden file"
(: > "$1/outside/made") 2>/dev/null
(: > "$1/workspace/made") || echo "! programs in it do not write in the workspace"
[ "$(pwd)" = "$1/workspace" ] || echo "! programs in it do not start in the workspace"
while read -r _ _ _ _ point options _; do
  [ "$point" = / ] && last=$options
done < /proc/self/mountinfo
case "$last" in ro|ro,*) ;; *) echo "! programs in it may write to the whole machine" ;; esac
for name in mnt pid ipc net; do readlink /proc/self/ns/$name || echo "! readlink is missing"; done
echo done
`;

async function runWithTimeout(program: string, args: readonly string[], clock: Clock) {
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  const gatedProcess = await startGatedProcess(program, args, { environment });
  const output = createBoundedOutput(MAX_BYTES);
  const errors = createBoundedOutput(MAX_BYTES);
  gatedProcess.output.on("data", (bytes: Uint8Array) => output.add(bytes));
  gatedProcess.errors.on("data", (bytes: Uint8Array) => errors.add(bytes));
  gatedProcess.openGate();
  const isOver = await new Promise<boolean>((resolve) => {
    const callOff = clock.schedule(TIMEOUT_MS, () => resolve(false));
    gatedProcess.close
      .then(
        () => resolve(true),
        () => resolve(true),
      )
      .finally(callOff);
  });
  await gatedProcess.stop();
  return { output: output.text(), errors: errors.text(), isOver };
}

const MAX_BYTES = 8192;
const TIMEOUT_MS = 10_000;

/**
 * Finds a program in the folders of `PATH`. Skips relative folders and folders below `avoid`: an agent could write
 * there and replace its own sandbox.
 */
async function findProgram(
  name: string,
  path: string,
  avoid: readonly string[],
): Promise<string | undefined> {
  for (const folder of path.split(":").filter(isAbsolute)) {
    const followed = await followPath(join(folder, name));
    if (followed.problem !== undefined) continue;
    const { hostPath } = followed;
    if (avoid.some((place) => isWithin(hostPath, place))) continue;
    if (await isProgram(hostPath)) return hostPath;
  }
  return undefined;
}

/** A tested sandbox of this machine. Created by `findSandbox`. */
export interface Sandbox {
  readonly type: "bubblewrap";
  /** Absolute path. */
  readonly program: string;
  /** Whether confined programs can use the network. */
  readonly network: boolean;
}
