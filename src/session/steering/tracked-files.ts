import { isObject, type JsonValue } from "../../data/json.ts";
import type { ToolFinished } from "../../domain/events/tool-events.ts";
import type { Reminder } from "../../domain/reminder.ts";

/** A file which the agent has read or written, with the path and the digest reported by the tool. */
export interface TrackedFile {
  readonly path: string;
  /** Null if the file no longer exists. */
  readonly sha256: string | null;
}

/** Dedupe key of the runtime's reminder about changed files. Its metadata has the files. */
export const CHANGED_FILES_KEY = "changed-files";

/** Records the file of a tool which reports a path and a digest, as the tools of the workspace do. */
export function trackFile(
  files: readonly TrackedFile[],
  { ending, attachments }: ToolFinished,
): readonly TrackedFile[] {
  const data = attachments?.data;
  if (ending !== "succeeded" || !isObject(data)) return files;
  const { path, sha256 } = data;
  if (typeof path !== "string" || typeof sha256 !== "string") return files;
  const others = files.filter((file) => file.path !== path);
  return [...others, { path, sha256 }].slice(-MAX_FILES);
}

/** Maximum number of tracked files. The state contains the files, and a prompt compares the files with the disk. */
const MAX_FILES = 64;

/** Records the digests which a reminder has announced, so a change is announced once. */
export function updateFiles(
  files: readonly TrackedFile[],
  { source, dedupeKey, metadata }: Reminder,
): readonly TrackedFile[] {
  if (source !== "stdlib_provider" || dedupeKey !== CHANGED_FILES_KEY) return files;
  const announced = readFiles(metadata?.["files"]);
  return files.map((file) => announced.find(({ path }) => path === file.path) ?? file);
}

function readFiles(value: JsonValue | undefined): readonly TrackedFile[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [];
  return list.flatMap((entry) => {
    if (!isObject(entry) || typeof entry["path"] !== "string") return [];
    const { path, sha256 } = entry;
    return [{ path, sha256: typeof sha256 === "string" ? sha256 : null }];
  });
}
