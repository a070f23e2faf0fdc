import { isObject, parseJson } from "../data/json.ts";
import type { Clock } from "../platform/clock.ts";
import { readSavedFile, saveFile } from "../platform/files/private-files.ts";
import { createMovableClock, type MovableClock } from "./movable-clock.ts";

export interface SavedClock {
  readonly clock: MovableClock;
  /** Moves the clock and resolves when the offset is saved. */
  readonly advance: (milliseconds: number) => Promise<void>;
}

/**
 * Opens a clock with a saved offset. The offset is stored in the data directory: otherwise the saved times would be in
 * the future after a restart.
 */
export async function openSavedClock(base: Clock, path: string | undefined): Promise<SavedClock> {
  const savedText = path === undefined ? undefined : await readSavedFile(path);
  const clock = createMovableClock(base, parseOffset(savedText ?? "{}"));
  let last = Promise.resolve();
  const save = async (): Promise<void> => {
    const offset = clock.offset();
    if (path !== undefined) await saveFile(path, `${JSON.stringify({ offset })}\n`);
  };
  return {
    clock,
    advance(milliseconds) {
      clock.advance(milliseconds);
      const saving = last.then(save);
      last = saving.catch(() => undefined);
      return saving;
    },
  };
}

function parseOffset(text: string): number {
  const parsed = parseJson(text);
  const offset = parsed.ok && isObject(parsed.value) ? parsed.value["offset"] : undefined;
  return typeof offset === "number" && offset >= 0 && offset < MAX_OFFSET ? offset : 0;
}

/** The limit keeps dates below the year 10000, which ISO dates cannot represent. */
const MAX_OFFSET = Date.UTC(9000, 0);
