/**
 * Whether something with this name is Spanline's, in whatever folder: the nearest configuration counts, so that a new one
 * could take the place of ours, and a `.spanline` holds the sessions of a project.
 */
export function isOwnName(name: string): boolean {
  return OWN.test(name.normalize("NFKC"));
}

const OWN = /^(?:spanline\.config\..*|\.spanline)$/is;

/** The folder that a project keeps its sessions in. */
export const PROJECT_FOLDER = ".spanline";
