import type { FileDiff } from "../../domain/tool-output.ts";
import { absolutePath } from "./absolute-path.ts";
import { firstThatFit, fits } from "./fitted.ts";
import type { ToolContent } from "./session-update.ts";

/** Changes of files, as a client shows them, in no more than so many bytes. */
export function diffContent(
  diffs: readonly FileDiff[],
  workspace: string | undefined,
  bytes: number,
): readonly ToolContent[] {
  const shown = diffs.map((diff): ToolContent => {
    const placed = { ...diff, path: absolutePath(diff.path, workspace) };
    const part = fits(placed, bytes / 2) ? placed : changedPart(placed);
    return fits(part, bytes / 2) ? { type: "diff", ...part } : tooLong(placed);
  });
  return firstThatFit(shown, bytes);
}

/**
 * The lines between the first and the last that differ, with a few around them. Half of a text would not do: what is cut
 * off would look as if it were deleted.
 */
function changedPart({ path, oldText, newText }: FileDiff): FileDiff {
  if (oldText === null) return { path, oldText, newText };
  const before = oldText.split("\n");
  const after = newText.split("\n");
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const part = (lines: readonly string[]): string =>
    lines.slice(Math.max(0, head - AROUND), lines.length - Math.max(0, tail - AROUND)).join("\n");
  return { path, oldText: part(before), newText: part(after) };
}

const AROUND = 3;

function tooLong({ path, oldText, newText }: FileDiff): ToolContent {
  const length = `${oldText?.length ?? 0} → ${newText.length} characters`;
  const text = `The change of ${path} is too long to be shown here (${length}).`;
  return { type: "content", content: { type: "text", text } };
}
