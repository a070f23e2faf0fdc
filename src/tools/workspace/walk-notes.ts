import { pluralize } from "../../text/pluralize.ts";
import type { WalkNotes } from "./files/walk-folder.ts";

/** Folders that are seldom meant and always large. */
export function isUsuallySkipped(name: string): boolean {
  return name === ".git" || name === "node_modules";
}

/** What is to be said of a walk beside what it found. */
export function formatWalkNotes({
  isTruncated,
  entries,
  skipped,
  unreadable,
}: WalkNotes): string[] {
  return [
    ...(isTruncated
      ? [`only the first ${pluralize(entries, "entry was", "entries were")} looked at`]
      : []),
    ...(skipped > 0
      ? [`${skipped} of .git and node_modules ${skipped === 1 ? "was" : "were"} not entered`]
      : []),
    ...(unreadable > 0 ? [`${pluralize(unreadable, "folder")} could not be entered`] : []),
  ];
}
