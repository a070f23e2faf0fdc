import {
  WATCH_LIMITS,
  type FileChange,
  type FileChangeEntry,
  type FileChangeKind,
} from "../../../domain/outputs/file-watch.ts";
import type { SteadyClock } from "../../../platform/clock.ts";

/** Collects changes of files into few batches. */
export interface ChangeCollector {
  readonly add: (change: FileChange) => void;
  /** Adds an entry about changes which could not be observed. */
  readonly addError: (message: string) => void;
  /** Drops pending changes. */
  readonly close: () => void;
}

/** Milliseconds from the first change to its batch. An editor needs several writes to save a file. */
const DEBOUNCE_MS = 100;
/** Milliseconds between two batches. Doubles while changes continue, so a busy folder does not flood the log. */
const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** Changed paths per batch. Further paths are counted. */
const MAX_PENDING = 500;

export function createChangeCollector(
  clock: Pick<SteadyClock, "monotonic" | "schedule">,
  onBatch: (entries: readonly FileChangeEntry[]) => void,
): ChangeCollector {
  const pending = new Map<string, FileChange>();
  const errors = new Set<string>();
  let omitted = 0;
  let stopTimer: (() => void) | undefined;
  let lastBatchAt = -Infinity;
  let pauseMs = MIN_PAUSE_MS;
  const flush = (): void => {
    stopTimer = undefined;
    const now = clock.monotonic();
    // Twice the pause: a change right after the last batch waited for its own pause.
    const isContinuing = now - lastBatchAt <= 2 * pauseMs;
    pauseMs = isContinuing ? Math.min(2 * pauseMs, MAX_PAUSE_MS) : MIN_PAUSE_MS;
    lastBatchAt = now;
    const entries = [...groupChanges(pending.values()), ...formatErrors(errors, omitted)];
    pending.clear();
    errors.clear();
    omitted = 0;
    if (entries.length > 0) onBatch(entries);
  };
  const schedule = (): void => {
    const sinceLast = clock.monotonic() - lastBatchAt;
    stopTimer ??= clock.schedule(Math.max(DEBOUNCE_MS, pauseMs - sinceLast), flush);
  };
  return {
    add(change) {
      const earlier = pending.get(change.path);
      if (earlier === undefined && pending.size >= MAX_PENDING) omitted += 1;
      else {
        const kind = mergeKinds(earlier?.kind, change.kind);
        if (kind === null) pending.delete(change.path);
        else pending.set(change.path, { ...change, kind });
      }
      schedule();
    },
    addError(message) {
      errors.add(message);
      schedule();
    },
    close() {
      stopTimer?.();
      pending.clear();
    },
  };
}

/** The kind of two successive changes of a path. Null if they cancel each other out. */
function mergeKinds(
  earlier: FileChangeKind | undefined,
  later: FileChangeKind,
): FileChangeKind | null {
  if (earlier === "create") return later === "remove" ? null : "create";
  if (earlier === "remove" && later === "create") return "modify";
  return later;
}

function groupChanges(changes: Iterable<FileChange>): FileChangeEntry[] {
  const groups = new Map<string, FileChange[]>();
  for (const change of changes) {
    const key = `${change.kind} ${change.rawKind}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [change]);
    else group.push(change);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { kind, rawKind } = first;
    const sorted = group.toSorted((left, right) => (left.path < right.path ? -1 : 1));
    return splitPages(sorted).map((page) => ({
      kind,
      paths: page.map(({ path }) => path),
      relativePaths: page.map(({ relativePath }) => relativePath),
      rawKind,
      error: null,
    }));
  });
}

function splitPages(changes: readonly FileChange[]): (readonly FileChange[])[] {
  const size = WATCH_LIMITS.pathsPerEntry;
  const count = Math.ceil(changes.length / size);
  return Array.from({ length: count }, (_, at) => changes.slice(at * size, (at + 1) * size));
}

function formatErrors(errors: ReadonlySet<string>, omitted: number): FileChangeEntry[] {
  const messages = [...errors];
  if (omitted > 0) messages.push(`${omitted} more changes were not recorded`);
  return messages.map((error) => ({
    kind: "error",
    paths: [],
    relativePaths: [],
    rawKind: "error",
    error,
  }));
}
