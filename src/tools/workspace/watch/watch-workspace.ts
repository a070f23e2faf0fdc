import { relative } from "node:path";
import { SpanlineError } from "../../../domain/errors.ts";
import type { FileChange, WatchRequest } from "../../../domain/outputs/file-watch.ts";
import { examinePath, resolveWorkspace, type WorkspacePaths } from "../paths/examine-paths.ts";
import { isWithin } from "../paths/protected-paths.ts";
import { readStats } from "../files/file-identity.ts";
import { readGlob, type Glob } from "../text/glob.ts";
import { createFolderWatcher } from "./folder-watcher.ts";

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly onChange: (change: FileChange) => void;
  /** Called with the reason why changes may be missing. */
  readonly onProblem: (message: string) => void;
}

/**
 * Watches files of a workspace until the signal aborts. Throws `workspace_refused` if a path is outside of the
 * workspace, protected or missing.
 */
export async function watchWorkspace(
  { paths, globs: patterns }: WatchRequest,
  workspacePaths: WorkspacePaths,
  { signal, onChange, onProblem }: WatchOptions,
): Promise<void> {
  const workspace = await resolveWorkspace(workspacePaths);
  const globs = await readGlobs(patterns);
  const roots = [workspace.root, ...workspace.folders].filter((folder) => folder !== null);
  const isProtected = (path: string): boolean =>
    workspace.places.paths.some((folder) => isWithin(path, folder));
  const watcher = createFolderWatcher({
    isProtected,
    onProblem,
    onChange(kind, path, rawKind) {
      const root = roots.find((folder) => isWithin(path, folder));
      if (root === undefined) return;
      const relativePath = relative(root, path) || ".";
      if (globs.length > 0 && !globs.some((glob) => glob(relativePath))) return;
      onChange({ kind, path, relativePath, rawKind });
    },
  });
  try {
    for (const input of paths) {
      const { location, hostPath, reason } = await examinePath(
        { argument: "paths", input },
        workspace,
      );
      if (location !== "inside" || hostPath === null)
        throw createRefusal(input, reason ?? "it is not in the workspace");
      const stats = await readStats(hostPath);
      if (stats === undefined) throw createRefusal(input, "it does not exist");
      if (signal.aborted) return;
      await watcher.add(hostPath, stats.isDirectory() ? "folder" : "file");
    }
    await waitForAbort(signal);
  } finally {
    watcher.close();
  }
}

async function readGlobs(patterns: readonly string[]): Promise<readonly Glob[]> {
  const globs: Glob[] = [];
  for (const pattern of patterns) {
    const result = await readGlob(pattern);
    if (result.problem !== undefined)
      throw new SpanlineError(
        "workspace_refused",
        `${pattern} is not a pattern: ${result.problem}`,
      );
    globs.push(result.glob);
  }
  return globs;
}

function createRefusal(path: string, reason: string): SpanlineError {
  return new SpanlineError("workspace_refused", `${path} cannot be watched: ${reason}`);
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
