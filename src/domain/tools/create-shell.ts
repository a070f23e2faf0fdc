import type { Shell, ShellSource } from "./shell.ts";

export interface ShellLocation {
  readonly path: string;
  readonly platform: string;
  readonly source: ShellSource;
  readonly isAvailable: boolean;
}

/** Creates a shell from its path. The file name determines its arguments; an unknown shell is called like `sh`. */
export function createShell({ path, platform, source, isAvailable }: ShellLocation): Shell {
  const id = createShellId(path);
  const { label = id, ...called } = SHELL_KINDS.get(id) ?? POSIX;
  return { id, label, path, platform, isAvailable, ...called, source };
}

/** Accepts paths of other systems, too: the shell may be on a client's machine. */
export function createShellId(path: string): string {
  const start = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1;
  return path
    .slice(start)
    .toLowerCase()
    .replace(/\.exe$/, "");
}

interface ShellKind extends Pick<
  Shell,
  "supportsLogin" | "supportsInteractive" | "defaultArgs" | "loginArgs"
> {
  readonly label?: string;
}

const POSIX: ShellKind = {
  supportsLogin: true,
  supportsInteractive: true,
  defaultArgs: ["-c"],
  loginArgs: ["-l", "-c"],
};

/** Accepts `-l` only as its single argument. */
const C_SHELL: ShellKind = { ...POSIX, supportsLogin: false, loginArgs: ["-c"] };

const SHELL_KINDS: ReadonlyMap<string, ShellKind> = new Map([
  ["csh", C_SHELL],
  ["tcsh", C_SHELL],
  ["pwsh", createWindowsKind("PowerShell", ["-NoProfile", "-Command"])],
  ["powershell", createWindowsKind("Windows PowerShell", ["-NoProfile", "-Command"])],
  ["cmd", createWindowsKind("Command Prompt", ["/C"])],
]);

function createWindowsKind(label: string, args: readonly string[]): ShellKind {
  return {
    label,
    supportsLogin: false,
    supportsInteractive: false,
    defaultArgs: args,
    loginArgs: args,
  };
}
