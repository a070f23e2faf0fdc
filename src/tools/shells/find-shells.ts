import { posix, win32 } from "node:path";
import { createShell, createShellId } from "../../domain/tools/create-shell.ts";
import type { ShellList, Shell, ShellSource } from "../../domain/tools/shell.ts";
import { readThisMachine, type MachineInfo } from "./machine-info.ts";

/**
 * The shells of a machine: what `SPANLINE_SHELL` says, what the environment says, the user's login shell, the system's
 * list, and where one usually is. The first of them that can be used is the default.
 *
 * What somebody chose and is not there is listed as such. Nothing else that is not there is.
 */
export async function findShells(machine: MachineInfo = readThisMachine()): Promise<ShellList> {
  const shellsByPath = new Map<string, Shell>();
  for (const [source, named] of await listCandidates(machine)) {
    const id = createShellId(named);
    if (id === "" || NO_SHELLS.has(id)) continue;
    // The first by an id counts, unless it is not there and another is.
    if (shellsByPath.get(id)?.isAvailable === true || shellsByPath.size >= MAX_SHELLS) continue;
    const path = await findProgram(named, machine);
    if (path === undefined && (!PREFERRED_SOURCES.has(source) || shellsByPath.has(id))) continue;
    const isAvailable = path !== undefined;
    const platform = PLATFORMS.get(machine.platform) ?? machine.platform;
    shellsByPath.delete(id);
    shellsByPath.set(id, createShell({ path: path ?? named, platform, source, isAvailable }));
  }
  const shells = [...shellsByPath.values()];
  return { shells, defaultId: shells.find(({ isAvailable }) => isAvailable)?.id ?? null };
}

const PREFERRED_SOURCES: ReadonlySet<ShellSource> = new Set(["configured", "env", "login"]);

/** They stand where shells do, to let nobody in or for another purpose, and run no commands. */
const NO_SHELLS = new Set(["nologin", "false", "true", "sync", "git-shell", "tmux", "screen"]);

const PLATFORMS = new Map([["win32", "windows"]]);
const MAX_SHELLS = 64;
const MAX_PATH_LENGTH = 4096;

type ShellCandidate = readonly [ShellSource, string];

async function listCandidates(machine: MachineInfo): Promise<readonly ShellCandidate[]> {
  const isWindows = machine.platform === "win32";
  const all: [ShellSource, readonly (string | undefined)[]][] = [
    ["configured", [readVariable(machine, "SPANLINE_SHELL")]],
    ["env", [readVariable(machine, isWindows ? "COMSPEC" : "SHELL")]],
    ["login", [isWindows ? undefined : machine.loginShell]],
    ["etc_shells", isWindows ? [] : parseShellList(await machine.readText("/etc/shells"))],
    ["fallback", isWindows ? WINDOWS_SHELLS : USUAL_PATHS],
  ];
  return all.flatMap(([source, names]) =>
    names.flatMap((name): ShellCandidate[] => {
      const path = name?.trim() ?? "";
      return path === "" || path.length > MAX_PATH_LENGTH ? [] : [[source, path]];
    }),
  );
}

const WINDOWS_SHELLS = ["pwsh.exe", "powershell.exe", "cmd.exe"];

const USUAL_PATHS = ["/bin", "/usr/bin"].flatMap((folder) =>
  ["zsh", "bash", "sh"].map((name) => `${folder}/${name}`),
);

/** One path in a line; `#` begins a remark. */
function parseShellList(text = ""): readonly string[] {
  const lines = text.split("\n").map((line) => line.replace(/#.*/, "").trim());
  return lines.filter((line) => posix.isAbsolute(line));
}

/** Where a shell is that is given by its whole path, or by a name that is in `PATH`. Never in the folder we are in. */
async function findProgram(reference: string, machine: MachineInfo): Promise<string | undefined> {
  const isWindows = machine.platform === "win32";
  const paths = isWindows ? win32 : posix;
  if (paths.isAbsolute(reference))
    return (await machine.isProgram(reference)) ? reference : undefined;
  if (/[\\/]/.test(reference)) return undefined;
  const folders = (readVariable(machine, "PATH") ?? "").split(paths.delimiter);
  for (const folder of folders.filter((folder) => paths.isAbsolute(folder))) {
    for (const name of isWindows ? [reference, `${reference}.exe`] : [reference]) {
      const path = paths.join(folder, name);
      if (await machine.isProgram(path)) return path;
    }
  }
  return undefined;
}

/** On Windows a variable has one name in capital letters and in small ones. */
function readVariable({ platform, environment }: MachineInfo, name: string): string | undefined {
  if (platform !== "win32") return Object.hasOwn(environment, name) ? environment[name] : undefined;
  return Object.entries(environment).find(([key]) => key.toUpperCase() === name)?.[1];
}
