/** Limits of a single tool call. Content beyond a limit is omitted, and the result says so. */
export interface WorkspaceLimits {
  /** Lines returned by `read_file`, and characters of all lines together. */
  readonly readLines: number;
  readonly readCharacters: number;
  /** Longer lines are cut. */
  readonly lineCharacters: number;
  /** Bytes of a file read by `read_file`. */
  readonly scanBytes: number;
  /** Bytes of a written or edited file, before and after. */
  readonly fileBytes: number;
  /** Bytes of a text in a diff shown to people. */
  readonly diffBytes: number;
  /** Entries shown by `list_files`, and entries visited by `list_files` and `search`. */
  readonly listEntries: number;
  readonly walkEntries: number;
  readonly depth: number;
  readonly searchMatches: number;
  readonly searchFiles: number;
  readonly searchFileBytes: number;
  readonly searchBytes: number;
  readonly searchMs: number;
  readonly commandMs: number;
  /** Bytes of each of a command's two outputs: half from the beginning, half from the end. */
  readonly outputBytes: number;
  /** A command which writes more bytes is stopped. */
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
