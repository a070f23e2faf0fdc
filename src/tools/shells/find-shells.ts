import { posix, win32 } from "node:path";
import { createShell, createShellId } from "../../domain/tools/create-shell.ts";
import type { ShellList, Shell, ShellSource } from "../../domain/tools/shell.ts";
import { readThisMachine, type MachineInfo } from "./machine-info.ts";

/**
 * Finds the shells of a machine, in this order: `SPANLINE_SHELL`, the environment (`SHELL` or `COMSPEC`), the user's
 * login shell, `/etc/shells`, and the usual paths. The first available shell is the default.
 *
 * A missing shell is listed as unavailable if it was chosen by the configuration, the environment or the login shell.
 * Other missing shells are omitted.
 */
export async function findShells(machine: MachineInfo = readThisMachine()): Promise<ShellList> {
  const shellsById = new Map<string, Shell>();
  for (const [source, named] of await listCandidates(machine)) {
    const id = createShellId(named);
    if (id === "" || NO_SHELLS.has(id)) continue;
    // The first shell with an id wins, unless it is missing and a later one is available.
    if (shellsById.get(id)?.isAvailable === true || shellsById.size >= MAX_SHELLS) continue;
    const path = await findProgram(named, machine);
    if (path === undefined && (!PREFERRED_SOURCES.has(source) || shellsById.has(id))) continue;
    const isAvailable = path !== undefined;
    const platform = PLATFORMS.get(machine.platform) ?? machine.platform;
    shellsById.delete(id);
    shellsById.set(id, createShell({ path: path ?? named, platform, source, isAvailable }));
  }
  const shells = [...shellsById.values()];
  return { shells, defaultId: shells.find(({ isAvailable }) => isAvailable)?.id ?? null };
}

const PREFERRED_SOURCES: ReadonlySet<ShellSource> = new Set(["configured", "env", "login"]);

/** Programs listed as login shells which block logins or serve another purpose. They run no commands. */
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

/** One path per line; `#` starts a comment. */
function parseShellList(text = ""): readonly string[] {
  const lines = text.split("\n").map((line) => line.replace(/#.*/, "").trim());
  return lines.filter((line) => posix.isAbsolute(line));
}

/** Resolves an absolute path, or a name in `PATH`. Never searches the current directory. */
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

/** Environment variables on Windows are case-insensitive. */
function readVariable({ platform, environment }: MachineInfo, name: string): string | undefined {
  if (platform !== "win32") return Object.hasOwn(environment, name) ? environment[name] : undefined;
  return Object.entries(environment).find(([key]) => key.toUpperCase() === name)?.[1];
}
