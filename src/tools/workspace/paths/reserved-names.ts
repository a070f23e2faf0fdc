/**
 * Whether a name belongs to Spanline in any folder. The nearest configuration file wins, so a new file could replace
 * the user's configuration; a `.spanline` folder contains the sessions of a project.
 */
export function isReservedName(name: string): boolean {
  return RESERVED_NAME.test(name.normalize("NFKC"));
}

const RESERVED_NAME = /^(?:spanline\.config\..*|\.spanline)$/is;

/** The folder in a project which contains its sessions. */
export const PROJECT_FOLDER = ".spanline";
