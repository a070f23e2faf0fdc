/** A program that runs lines of commands, and how it is called. */
export interface Shell {
  /** The name of its file, without an ending such as `.exe`. */
  readonly id: string;
  readonly label: string;
  readonly path: string;
  /** `linux`, `darwin`, `windows`, or another system's own word. */
  readonly platform: string;
  readonly isAvailable: boolean;
  readonly supportsLogin: boolean;
  readonly supportsInteractive: boolean;
  /** What comes before the command. */
  readonly defaultArgs: readonly string[];
  /** The same where it is to be a login shell. */
  readonly loginArgs: readonly string[];
  readonly source: ShellSource;
}

/** How a shell was found, in the order in which they count. One that a client named is of its host. */
export const SHELL_SOURCES = [
  "configured",
  "env",
  "login",
  "etc_shells",
  "fallback",
  "host",
] as const;

export type ShellSource = (typeof SHELL_SOURCES)[number];

/** The shells of a machine, each id once. A session that chooses another default has another value. */
export interface ShellList {
  readonly shells: readonly Shell[];
  /** Null where none can be used. */
  readonly defaultId: string | null;
}

/** A shell itself, or one by its id; the default where neither is said. */
export interface ShellChoice {
  readonly shell?: Shell;
  readonly shellId?: string;
}

/** Undefined where there is none by this id that can be used. A shell that is given counts as it is. */
export function chooseShell(list: ShellList, { shell, shellId }: ShellChoice): Shell | undefined {
  if (shell !== undefined) return shell;
  const requestedId = shellId ?? list.defaultId;
  return list.shells.find(({ id, isAvailable }) => id === requestedId && isAvailable);
}

/** Undefined where there is none by this id that can be used. */
export function setDefaultShell(list: ShellList, shellId: string): ShellList | undefined {
  const shell = chooseShell(list, { shellId });
  return shell === undefined ? undefined : { ...list, defaultId: shell.id };
}
