/**
 * Resolves a path against the workspace: ACP requires absolute paths, Spanline's paths are relative to the workspace.
 * Returns the path unchanged if the workspace is unknown.
 */
export function toAbsolutePath(path: string, workspace: string | undefined): string {
  if (workspace === undefined || ABSOLUTE_PATH.test(path)) return path;
  const folder = workspace.replace(/[\\/]$/, "");
  return path === "" || path === "." ? workspace : `${folder}/${path.replace(/^\.\//, "")}`;
}

/** Matches absolute POSIX, Windows drive and UNC paths: the client may run on another operating system. */
export const ABSOLUTE_PATH = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/;
