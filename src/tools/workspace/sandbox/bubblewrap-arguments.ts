export interface Confinement {
  /** Writable; the rest of the machine is read-only. */
  readonly root: string;
  /** Further writable folders. */
  readonly folders?: readonly string[];
  readonly workingDirectory: string;
  /** Paths invisible to the program. */
  readonly hidden: readonly HiddenPath[];
  readonly network: boolean;
}

export interface HiddenPath {
  readonly path: string;
  readonly type: "folder" | "file";
}

/** The arguments of bubblewrap for a program. Later mounts cover earlier mounts. */
export function createBubblewrapArguments(
  { root, folders = [], workingDirectory, hidden, network }: Confinement,
  argv: readonly string[],
): string[] {
  return [
    ["--die-with-parent"],
    // Prevents the program from writing input to the bridge's own terminal.
    ["--new-session"],
    ["--unshare-all"],
    network ? ["--share-net"] : [],
    ["--cap-drop", "ALL"],
    ["--ro-bind", "/", "/"],
    ["--dev", "/dev"],
    ["--proc", "/proc"],
    ["--tmpfs", "/tmp"],
    // Service sockets, such as Docker's, accept commands even if mounted read-only.
    ["--tmpfs", "/run"],
    ...VISIBLE_RUN_FOLDERS.map((path) => ["--ro-bind-try", path, path]),
    ...[root, ...folders].map((folder) => ["--bind", folder, folder]),
    ...hidden.map(createHideArguments),
    ["--chdir", workingDirectory],
    ["--", ...argv],
  ].flat();
}

/** Some systems have their programs and the name server's address here. */
const VISIBLE_RUN_FOLDERS = ["/run/current-system", "/run/systemd/resolve"];

function createHideArguments({ path, type }: HiddenPath): string[] {
  return type === "folder"
    ? ["--tmpfs", path, "--remount-ro", path]
    : ["--ro-bind", "/dev/null", path];
}
