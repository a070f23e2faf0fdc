import {
  WATCH_LIMITS,
  type FileChange,
  type FileChangeEntry,
  type FileChangeKind,
} from "../../../domain/outputs/file-watch.ts";
import { pluralize } from "../../../text/pluralize.ts";
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
/** Changed paths per batch, and their characters. Further paths are counted. */
const MAX_PENDING = 500;
const MAX_PENDING_CHARACTERS = 128 * 1024;
/** Error entries per batch. Further errors are counted. */
const MAX_ERRORS = 10;

export function createChangeCollector(
  clock: Pick<SteadyClock, "monotonic" | "schedule">,
  onBatch: (entries: readonly FileChangeEntry[]) => void,
): ChangeCollector {
  let batch = new ChangeBatch();
  let isClosed = false;
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
    const entries = batch.format();
    batch = new ChangeBatch();
    if (entries.length > 0) onBatch(entries);
  };
  const schedule = (): void => {
    if (isClosed) return;
    const sinceLast = clock.monotonic() - lastBatchAt;
    stopTimer ??= clock.schedule(Math.max(DEBOUNCE_MS, pauseMs - sinceLast), flush);
  };
  return {
    add(change) {
      batch.add(change);
      schedule();
    },
    addError(message) {
      batch.addError(message);
      schedule();
    },
    close() {
      isClosed = true;
      stopTimer?.();
      batch = new ChangeBatch();
    },
  };
}

/** The changes of one batch, with bounded memory. */
class ChangeBatch {
  readonly #changes = new Map<string, FileChange>();
  readonly #errors = new Set<string>();
  #characters = 0;
  #omittedChanges = 0;
  #omittedErrors = 0;

  add(change: FileChange): void {
    const { path, relativePath } = change;
    const earlier = this.#changes.get(path);
    const characters = path.length + relativePath.length;
    const isFull =
      this.#changes.size >= MAX_PENDING || this.#characters + characters > MAX_PENDING_CHARACTERS;
    if (earlier === undefined && isFull) {
      this.#omittedChanges += 1;
      return;
    }
    if (earlier === undefined) this.#characters += characters;
    const kind = mergeKinds(earlier?.kind, change.kind);
    if (kind !== null) this.#changes.set(path, { ...change, kind });
    else if (this.#changes.delete(path)) this.#characters -= characters;
  }

  addError(message: string): void {
    if (this.#errors.size < MAX_ERRORS || this.#errors.has(message)) this.#errors.add(message);
    else this.#omittedErrors += 1;
  }

  format(): FileChangeEntry[] {
    const errors = [...this.#errors];
    const [changeCount, errorCount] = [this.#omittedChanges, this.#omittedErrors];
    if (errorCount > 0) errors.push(`${pluralize(errorCount, "more error")} occurred`);
    if (changeCount > 0) errors.push(`${changeCount} more changes were not recorded`);
    return [...groupChanges(this.#changes.values()), ...errors.map(createErrorEntry)];
  }
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

function createErrorEntry(error: string): FileChangeEntry {
  return { kind: "error", paths: [], relativePaths: [], rawKind: "error", error };
}
