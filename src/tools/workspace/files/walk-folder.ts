import type { Dirent } from "node:fs";
import { join } from "node:path";
import { pluralize } from "../../../text/pluralize.ts";
import { isRefusal } from "../tool-refusal.ts";
import type { Folder } from "./folder.ts";

export interface WalkOptions {
  /** 1 visits only the entries of the folder itself. */
  readonly depth: number;
  readonly entries: number;
  /** Whether a folder is listed but not entered. */
  readonly isSkipped: (name: string) => boolean;
  readonly yieldToLoop: () => Promise<void> | undefined;
}

export interface WalkEntry {
  /** Relative to the walked folder, with `/`. */
  readonly path: string;
  readonly type: "file" | "folder" | "link" | "other";
  /** Open only while the entry is being processed. */
  readonly folder: Folder;
  readonly name: string;
}

/** Counts of entries not visited by a walk. */
export interface WalkNotes {
  entries: number;
  /** Whether the walk ended at the entry limit. */
  isTruncated: boolean;
  skipped: number;
  tooDeep: number;
  unreadable: number;
  hidden: number;
}

export function createWalkNotes(): WalkNotes {
  return { entries: 0, isTruncated: false, skipped: 0, tooDeep: 0, unreadable: 0, hidden: 0 };
}

/** Lists everything in and below a folder, sorted by name. Links are listed but never followed. */
export async function* walkFolder(
  folder: Folder,
  options: WalkOptions,
  notes: WalkNotes,
  above = "",
): AsyncGenerator<WalkEntry, void, void> {
  const remaining = options.entries - notes.entries;
  const entries = await folder.entries(remaining + 1);
  if (entries.length > remaining) notes.isTruncated = true;
  notes.entries += Math.min(entries.length, remaining);
  for (const entry of entries.slice(0, remaining).sort(compareByName)) {
    await options.yieldToLoop();
    const { name } = entry;
    const path = join(above, name);
    const type = readEntryType(entry);
    if (type !== "folder") {
      yield { path, type, folder, name };
      continue;
    }
    const inner = await enterOrNote(folder, { name, path }, options, notes);
    if (inner !== "hidden") yield { path, type, folder, name };
    if (typeof inner === "string") continue;
    try {
      yield* walkFolder(inner, options, notes, path);
    } finally {
      await inner.close();
    }
  }
}

/** Compares code units, not by locale, so that the order is the same on every machine. */
function compareByName({ name: first }: Dirent, { name: second }: Dirent): number {
  return first < second ? -1 : first > second ? 1 : 0;
}

function readEntryType(entry: Dirent): WalkEntry["type"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

async function enterOrNote(
  folder: Folder,
  { name, path }: { readonly name: string; readonly path: string },
  options: WalkOptions,
  notes: WalkNotes,
): Promise<Folder | "hidden" | "closed"> {
  const isTooDeep = path.split("/").length >= options.depth;
  const isSkipped = options.isSkipped(name);
  let inner: Folder;
  try {
    // Opened even if it is not entered: a protected folder must not be listed.
    inner = await folder.enter(name);
  } catch (error) {
    if (isRefusal(error, "protected")) {
      notes.hidden += 1;
      return "hidden";
    }
    notes.unreadable += 1;
    return "closed";
  }
  if (!isTooDeep && !isSkipped && notes.entries < options.entries) return inner;
  await inner.close();
  if (isSkipped) notes.skipped += 1;
  else if (isTooDeep) notes.tooDeep += 1;
  else notes.isTruncated = true;
  return "closed";
}

/** Large folders which are seldom meant. */
export function isUsuallySkipped(name: string): boolean {
  return name === ".git" || name === "node_modules";
}

/** Notes about the omitted entries of a walk. */
export function formatWalkNotes({
  isTruncated,
  entries,
  skipped,
  unreadable,
}: WalkNotes): string[] {
  return [
    ...(isTruncated
      ? [`only the first ${pluralize(entries, "entry was", "entries were")} read`]
      : []),
    ...(skipped > 0
      ? [`${skipped} of .git and node_modules ${skipped === 1 ? "was" : "were"} not entered`]
      : []),
    ...(unreadable > 0 ? [`${pluralize(unreadable, "folder")} could not be entered`] : []),
  ];
}
