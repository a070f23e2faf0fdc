/** ACP has all paths from the root of the machine, ours begin in the workspace. One that nobody knows leaves them so. */
export function toAbsolutePath(path: string, workspace: string | undefined): string {
  if (workspace === undefined || ABSOLUTE_PATH.test(path)) return path;
  const folder = workspace.replace(/[\\/]$/, "");
  return path === "" || path === "." ? workspace : `${folder}/${path.replace(/^\.\//, "")}`;
}

/** Of this system or another: the client need not be on this machine. */
export const ABSOLUTE_PATH = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/;
