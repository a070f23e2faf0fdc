import { posix, win32 } from "node:path";
import { shellAt, shellIdOf } from "../../domain/shell-at.ts";
import type { KnownShells, Shell, ShellSource } from "../../domain/shell.ts";
import { thisMachine, type MachineLook } from "./machine-look.ts";

/**
 * The shells of a machine: what `SPANLINE_SHELL` says, what the environment says, the user's login shell, the system's
 * list, and where one usually is. The first of them that can be used is the default.
 *
 * What somebody chose and is not there is listed as such. Nothing else that is not there is.
 */
export async function findShells(look: MachineLook = thisMachine()): Promise<KnownShells> {
  const found = new Map<string, Shell>();
  for (const [source, named] of await namedShells(look)) {
    const id = shellIdOf(named);
    if (id === "" || NO_SHELLS.has(id)) continue;
    // The first by an id counts, unless it is not there and another is.
    if (found.get(id)?.isAvailable === true || found.size >= MOST_SHELLS) continue;
    const path = await programAt(named, look);
    if (path === undefined && (!CHOSEN.has(source) || found.has(id))) continue;
    const isAvailable = path !== undefined;
    const platform = PLATFORMS.get(look.platform) ?? look.platform;
    found.delete(id);
    found.set(id, shellAt({ path: path ?? named, platform, source, isAvailable }));
  }
  const shells = [...found.values()];
  return { shells, defaultId: shells.find(({ isAvailable }) => isAvailable)?.id ?? null };
}

const CHOSEN: ReadonlySet<ShellSource> = new Set(["configured", "env", "login"]);

/** They stand where shells do, to let nobody in or for another purpose, and run no commands. */
const NO_SHELLS = new Set(["nologin", "false", "true", "sync", "git-shell", "tmux", "screen"]);

const PLATFORMS = new Map([["win32", "windows"]]);
const MOST_SHELLS = 64;
const MOST_CHARACTERS = 4096;

type NamedShell = readonly [ShellSource, string];

async function namedShells(look: MachineLook): Promise<readonly NamedShell[]> {
  const isWindows = look.platform === "win32";
  const all: [ShellSource, readonly (string | undefined)[]][] = [
    ["configured", [variable(look, "SPANLINE_SHELL")]],
    ["env", [variable(look, isWindows ? "COMSPEC" : "SHELL")]],
    ["login", [isWindows ? undefined : look.loginShell]],
    ["etc_shells", isWindows ? [] : listedShells(await look.readText("/etc/shells"))],
    ["fallback", isWindows ? WINDOWS_SHELLS : USUAL_PLACES],
  ];
  return all.flatMap(([source, names]) =>
    names.flatMap((name): NamedShell[] => {
      const path = name?.trim() ?? "";
      return path === "" || path.length > MOST_CHARACTERS ? [] : [[source, path]];
    }),
  );
}

const WINDOWS_SHELLS = ["pwsh.exe", "powershell.exe", "cmd.exe"];

const USUAL_PLACES = ["/bin", "/usr/bin"].flatMap((folder) =>
  ["zsh", "bash", "sh"].map((name) => `${folder}/${name}`),
);

/** One path in a line; `#` begins a remark. */
function listedShells(text = ""): readonly string[] {
  const lines = text.split("\n").map((line) => line.replace(/#.*/, "").trim());
  return lines.filter((line) => posix.isAbsolute(line));
}

/** Where a shell is that is given by its whole path, or by a name that is in `PATH`. Never in the folder we are in. */
async function programAt(named: string, look: MachineLook): Promise<string | undefined> {
  const isWindows = look.platform === "win32";
  const paths = isWindows ? win32 : posix;
  if (paths.isAbsolute(named)) return (await look.isProgram(named)) ? named : undefined;
  if (/[\\/]/.test(named)) return undefined;
  const folders = (variable(look, "PATH") ?? "").split(paths.delimiter);
  for (const folder of folders.filter((folder) => paths.isAbsolute(folder))) {
    for (const name of isWindows ? [named, `${named}.exe`] : [named]) {
      const path = paths.join(folder, name);
      if (await look.isProgram(path)) return path;
    }
  }
  return undefined;
}

/** On Windows a variable has one name in capital letters and in small ones. */
function variable({ platform, environment }: MachineLook, name: string): string | undefined {
  if (platform !== "win32") return Object.hasOwn(environment, name) ? environment[name] : undefined;
  return Object.entries(environment).find(([key]) => key.toUpperCase() === name)?.[1];
}
