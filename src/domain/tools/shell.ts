/** A program which runs command lines, and its arguments. */
export interface Shell {
  /** File name without an extension such as `.exe`. */
  readonly id: string;
  readonly label: string;
  readonly path: string;
  /** `linux`, `darwin`, `windows`, or the name of another system. */
  readonly platform: string;
  readonly isAvailable: boolean;
  readonly supportsLogin: boolean;
  readonly supportsInteractive: boolean;
  /** Arguments before the command. */
  readonly defaultArgs: readonly string[];
  /** Arguments before the command for a login shell. */
  readonly loginArgs: readonly string[];
  readonly source: ShellSource;
}

/** Where a shell was found, in order of precedence. `host`: named by a client. */
export const SHELL_SOURCES = [
  "configured",
  "env",
  "login",
  "etc_shells",
  "fallback",
  "host",
] as const;

export type ShellSource = (typeof SHELL_SOURCES)[number];

/** The shells of a machine, each id once. A session with another default has its own list. */
export interface ShellList {
  readonly shells: readonly Shell[];
  /** Null if no shell is available. */
  readonly defaultId: string | null;
}

/** A shell, or the id of one. Default: the default shell of the list. */
export interface ShellChoice {
  readonly shell?: Shell;
  readonly shellId?: string;
}

/**
 * Returns the chosen shell; undefined if its id is unknown or unavailable. A shell passed as a value is used as it is.
 */
export function chooseShell(list: ShellList, { shell, shellId }: ShellChoice): Shell | undefined {
  if (shell !== undefined) return shell;
  const requestedId = shellId ?? list.defaultId;
  return list.shells.find(({ id, isAvailable }) => id === requestedId && isAvailable);
}

/** Returns a list with another default; undefined if the id is unknown or unavailable. */
export function setDefaultShell(list: ShellList, shellId: string): ShellList | undefined {
  const shell = chooseShell(list, { shellId });
  return shell === undefined ? undefined : { ...list, defaultId: shell.id };
}
