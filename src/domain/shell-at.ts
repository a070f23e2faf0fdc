import type { Shell, ShellSource } from "./shell.ts";

export interface ShellPlace {
  readonly path: string;
  readonly platform: string;
  readonly source: ShellSource;
  readonly isAvailable: boolean;
}

/** A shell by the name of its file, which says how it is called. One that is not known is called as `sh` is. */
export function shellAt({ path, platform, source, isAvailable }: ShellPlace): Shell {
  const id = shellIdOf(path);
  const { label = id, ...called } = KINDS.get(id) ?? POSIX;
  return { id, label, path, platform, isAvailable, ...called, source };
}

/** Also of a path of another system: the shell may be on a client's machine. */
export function shellIdOf(path: string): string {
  const start = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1;
  return path
    .slice(start)
    .toLowerCase()
    .replace(/\.exe$/, "");
}

interface Kind extends Pick<
  Shell,
  "supportsLogin" | "supportsInteractive" | "defaultArgs" | "loginArgs"
> {
  readonly label?: string;
}

const POSIX: Kind = {
  supportsLogin: true,
  supportsInteractive: true,
  defaultArgs: ["-c"],
  loginArgs: ["-l", "-c"],
};

/** Takes `-l` only where nothing else is said. */
const C_SHELL: Kind = { ...POSIX, supportsLogin: false, loginArgs: ["-c"] };

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ["csh", C_SHELL],
  ["tcsh", C_SHELL],
  ["pwsh", windows("PowerShell", ["-NoProfile", "-Command"])],
  ["powershell", windows("Windows PowerShell", ["-NoProfile", "-Command"])],
  ["cmd", windows("Command Prompt", ["/C"])],
]);

function windows(label: string, args: readonly string[]): Kind {
  return {
    label,
    supportsLogin: false,
    supportsInteractive: false,
    defaultArgs: args,
    loginArgs: args,
  };
}
