import { isObject, parseJson } from "../data/json.ts";
import type { Clock } from "../platform/clock.ts";
import { readSavedFile, saveFile } from "../platform/files/private-files.ts";
import { createMovableClock, type MovableClock } from "./movable-clock.ts";

export interface SavedClock {
  readonly clock: MovableClock;
  /** Moves the clock, and resolves when that is saved. */
  readonly advance: (milliseconds: number) => Promise<void>;
}

/**
 * How far the clock was moved is kept with what it was moved for: times in the data directory would lie in the future of an
 * emulator that began at zero again.
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

/** Further on there are no years that a date can be written with. */
const MAX_OFFSET = Date.UTC(9000, 0);
