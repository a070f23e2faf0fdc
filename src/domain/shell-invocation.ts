import type { Shell } from "./shell.ts";

/** A line for a shell. */
export interface ShellLine {
  readonly command: string;
  readonly login?: boolean;
  readonly interactive?: boolean;
}

/** A program and its arguments, the command the last of them. */
export interface ShellInvocation {
  readonly program: string;
  readonly args: readonly string[];
  readonly commandIndex: number;
  readonly shell: Shell;
}

/** How a shell runs a line. What it does not support is left out. */
export function shellInvocation(
  shell: Shell,
  { command, login = false, interactive = false }: ShellLine,
): ShellInvocation {
  const given = login && shell.supportsLogin ? shell.loginArgs : shell.defaultArgs;
  const adds = interactive && shell.supportsInteractive && !given.includes("-i");
  const before = adds ? ["-i", ...given] : given;
  return { program: shell.path, args: [...before, command], commandIndex: before.length, shell };
}
