import type { FileDiff } from "../../domain/tool-output.ts";
import { absolutePath } from "./absolute-path.ts";
import type { ToolContent } from "./session-update.ts";

/** A change of a file, as a client shows it. */
export function diffContent(diff: FileDiff, workspace: string | undefined): ToolContent {
  return { type: "diff", ...diff, path: absolutePath(diff.path, workspace) };
}
