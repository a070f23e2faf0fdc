import type { Shell } from "./shell.ts";

/** A command line for a shell. */
export interface ShellLine {
  readonly command: string;
  readonly login?: boolean;
  readonly interactive?: boolean;
}

/** A program with its arguments. The command is the last argument. */
export interface ShellInvocation {
  readonly program: string;
  readonly args: readonly string[];
  readonly commandIndex: number;
  readonly shell: Shell;
}

/** Builds the invocation of a command line. Unsupported options are ignored. */
export function createShellInvocation(
  shell: Shell,
  { command, login = false, interactive = false }: ShellLine,
): ShellInvocation {
  const shellArgs = login && shell.supportsLogin ? shell.loginArgs : shell.defaultArgs;
  const adds = interactive && shell.supportsInteractive && !shellArgs.includes("-i");
  const argsBefore = adds ? ["-i", ...shellArgs] : shellArgs;
  return {
    program: shell.path,
    args: [...argsBefore, command],
    commandIndex: argsBefore.length,
    shell,
  };
}
