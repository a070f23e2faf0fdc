/**
 * Whether something with this name is Spanline's, in whatever folder: the nearest configuration counts, so that a new one
 * could take the place of ours, and a `.spanline` holds the sessions of a project.
 */
export function isReservedName(name: string): boolean {
  return RESERVED_NAME.test(name.normalize("NFKC"));
}

const RESERVED_NAME = /^(?:spanline\.config\..*|\.spanline)$/is;

/** The folder that a project keeps its sessions in. */
export const PROJECT_FOLDER = ".spanline";
