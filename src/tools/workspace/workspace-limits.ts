/** How much one call may take. What is over a limit is left out, and the answer says so. */
export interface WorkspaceLimits {
  /** Lines that `read_file` gives at once, and characters of them all. */
  readonly readLines: number;
  readonly readCharacters: number;
  /** Of a longer line only the beginning is shown. */
  readonly lineCharacters: number;
  /** How far into a file `read_file` looks. */
  readonly scanBytes: number;
  /** Of a file that is written or edited, before and after. */
  readonly fileBytes: number;
  /** Of a text in a diff, for people. */
  readonly diffBytes: number;
  /** Entries that `list_files` shows, and that it and `search` look at. */
  readonly listEntries: number;
  readonly walkEntries: number;
  readonly depth: number;
  readonly searchMatches: number;
  readonly searchFiles: number;
  readonly searchFileBytes: number;
  readonly searchBytes: number;
  readonly searchMs: number;
  readonly commandMs: number;
  /** Of each of the two outputs of a command: half from its beginning, half from its end. */
  readonly outputBytes: number;
  /** A command that writes more than this is stopped. */
  readonly floodBytes: number;
}

const KIB = 1024;
const MIB = KIB * KIB;

export const DEFAULT_WORKSPACE_LIMITS: WorkspaceLimits = {
  readLines: 2000,
  readCharacters: 60_000,
  lineCharacters: 2000,
  scanBytes: 64 * MIB,
  fileBytes: 10 * MIB,
  diffBytes: MIB,
  listEntries: 1000,
  walkEntries: 200_000,
  depth: 64,
  searchMatches: 200,
  searchFiles: 50_000,
  searchFileBytes: 5 * MIB,
  searchBytes: 512 * MIB,
  searchMs: 20_000,
  commandMs: 600_000,
  outputBytes: 32 * KIB,
  floodBytes: 256 * MIB,
};
