import type { FileDiff } from "../../../../domain/tools/tool-output.ts";
import { toAbsolutePath } from "../../absolute-path.ts";
import { takeFitting, fits } from "../../fit-json.ts";
import type { ToolContent } from "../acp-session-update.ts";

/** Encodes file changes within a number of bytes. A change that is still too long becomes a text note. */
export function encodeDiffs(
  diffs: readonly FileDiff[],
  workspace: string | undefined,
  bytes: number,
): readonly ToolContent[] {
  const encodedDiffs = diffs.map((diff): ToolContent => {
    const absoluteDiff = { ...diff, path: toAbsolutePath(diff.path, workspace) };
    const part = fits(absoluteDiff, bytes / 2) ? absoluteDiff : cropToChange(absoluteDiff);
    return fits(part, bytes / 2) ? { type: "diff", ...part } : encodeTooLongDiff(absoluteDiff);
  });
  return takeFitting(encodedDiffs, bytes);
}

/**
 * Reduces a diff to the lines between the first and the last difference, with three lines of context. Cutting at a byte
 * limit is not possible: a client would show the missing rest as deleted.
 */
function cropToChange({ path, oldText, newText }: FileDiff): FileDiff {
  if (oldText === null) return { path, oldText, newText };
  const oldLines = oldText.split("\n");
  const newLines = newText.split("\n");
  const maxShared = Math.min(oldLines.length, newLines.length);
  let head = 0;
  while (head < maxShared && oldLines[head] === newLines[head]) head += 1;
  let tail = 0;
  while (tail < maxShared - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail += 1;
  const part = (lines: readonly string[]): string =>
    lines
      .slice(Math.max(0, head - CONTEXT_LINES), lines.length - Math.max(0, tail - CONTEXT_LINES))
      .join("\n");
  return { path, oldText: part(oldLines), newText: part(newLines) };
}

const CONTEXT_LINES = 3;

function encodeTooLongDiff({ path, oldText, newText }: FileDiff): ToolContent {
  const length = `${oldText?.length ?? 0} → ${newText.length} characters`;
  const text = `The change to ${path} is too long to show (${length}).`;
  return { type: "content", content: { type: "text", text } };
}
