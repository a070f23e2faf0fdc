export interface Confinement {
  /** May be written; everything else can only be read. */
  readonly root: string;
  /** The same for these. */
  readonly folders?: readonly string[];
  readonly workingDirectory: string;
  /** What is not even there for the program. */
  readonly hidden: readonly HiddenPath[];
  readonly network: boolean;
}

export interface HiddenPath {
  readonly path: string;
  readonly type: "folder" | "file";
}

/** What bubblewrap is called with to run a program. Later arguments lie over earlier ones. */
export function createBubblewrapArguments(
  { root, folders = [], workingDirectory, hidden, network }: Confinement,
  argv: readonly string[],
): string[] {
  return [
    ["--die-with-parent"],
    // Otherwise a program could type into the terminal that the bridge runs in.
    ["--new-session"],
    ["--unshare-all"],
    network ? ["--share-net"] : [],
    ["--cap-drop", "ALL"],
    ["--ro-bind", "/", "/"],
    ["--dev", "/dev"],
    ["--proc", "/proc"],
    ["--tmpfs", "/tmp"],
    // Sockets of services, such as Docker's, take commands also where they can only be read.
    ["--tmpfs", "/run"],
    ...VISIBLE_RUN_FOLDERS.map((path) => ["--ro-bind-try", path, path]),
    ...[root, ...folders].map((folder) => ["--bind", folder, folder]),
    ...hidden.map(createHideArguments),
    ["--chdir", workingDirectory],
    ["--", ...argv],
  ].flat();
}

/** Where some systems have their programs and the address of their name server. */
const VISIBLE_RUN_FOLDERS = ["/run/current-system", "/run/systemd/resolve"];

function createHideArguments({ path, type }: HiddenPath): string[] {
  return type === "folder"
    ? ["--tmpfs", path, "--remount-ro", path]
    : ["--ro-bind", "/dev/null", path];
}
