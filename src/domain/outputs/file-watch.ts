import { isObject } from "../../data/json.ts";
import { formatValue } from "../../text/format-value.ts";

/** The runtime tool with which an agent watches files. */
export const WATCH_FILES_TOOL = "watch_files";

/** What a subscription watches, below the folders of its session. */
export interface WatchRequest {
  /** Files and folders, with their subfolders. Relative paths start at the workspace folder. */
  readonly paths: readonly string[];
  /** Patterns of relative paths. Empty: every file. */
  readonly globs: readonly string[];
}

export const WATCH_LIMITS = {
  subscriptions: 16,
  paths: 16,
  globs: 16,
  globLength: 500,
  pathLength: 4096,
  /** Paths in one entry of an event. */
  pathsPerEntry: 100,
  /** Milliseconds until a subscription expires. */
  ttlMs: 86_400_000,
} as const;

export type FileChangeKind = "create" | "modify" | "remove" | "rename" | "error" | "other";

/** One change of a file. */
export interface FileChange {
  readonly kind: FileChangeKind;
  readonly path: string;
  readonly relativePath: string;
  /** The kind as the operating system reports it. */
  readonly rawKind: string;
}

/** Changes of the same kind. */
export interface FileChangeEntry {
  readonly kind: FileChangeKind;
  readonly paths: readonly string[];
  readonly relativePaths: readonly string[];
  readonly rawKind: string;
  /** Why changes may be missing. Null for an ordinary entry. */
  readonly error: string | null;
}

/** Reads a request to watch files. Returns the problem as a string. Without paths, the whole workspace is watched. */
export function readWatchRequest(value: unknown): WatchRequest | string {
  if (!isObject(value)) return `the request is ${formatValue(value)}: expected an object`;
  const paths = readStrings(value["paths"], "paths", WATCH_LIMITS.pathLength);
  if (typeof paths === "string") return paths;
  const globs = readStrings(value["globs"], "globs", WATCH_LIMITS.globLength);
  if (typeof globs === "string") return globs;
  return { paths: paths.length === 0 ? ["."] : paths, globs };
}

function readStrings(
  value: unknown,
  name: "paths" | "globs",
  maxLength: number,
): readonly string[] | string {
  if (value === undefined || value === null) return [];
  const limit = WATCH_LIMITS[name];
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const texts = items.filter(
    (item): item is string =>
      typeof item === "string" && item !== "" && item.length <= maxLength && !item.includes("\0"),
  );
  if (Array.isArray(value) && value.length <= limit && texts.length === value.length) return texts;
  return `"${name}" is not valid: expected at most ${limit} strings of 1 to ${maxLength} characters`;
}

/** Formats changes in one line, such as `modify src/a.ts, src/b.ts`. */
export function formatFileChanges(entries: readonly FileChangeEntry[]): string {
  const texts = entries.map(({ kind, relativePaths, error }) => {
    const shown = relativePaths.slice(0, MAX_SHOWN_PATHS).join(", ");
    const rest = relativePaths.length > MAX_SHOWN_PATHS ? ", …" : "";
    return error ?? `${kind} ${shown}${rest}`;
  });
  return texts.join("; ");
}

const MAX_SHOWN_PATHS = 10;
