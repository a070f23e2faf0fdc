import { systemClock, type Clock } from "../../platform/clock.ts";
import type { Store } from "../store.ts";
import { createStoreClosedError } from "../store-error.ts";
import { createChangeNotifier } from "../subscribe-to-log.ts";
import { RecordRows } from "./record-rows.ts";
import type { MemorySession } from "./session-rows.ts";
import { createStoreReader } from "./store-reader.ts";
import { createStoreWriter } from "./store-writer.ts";

export interface MemoryStoreOptions {
  /** Decides when records expire. Default: the system's clock. */
  readonly clock?: Clock;
}

/** A store in memory: its contents are lost when the process ends. The files of this folder have the names of their counterparts in `sqlite/`. */
export function createMemoryStore({ clock = systemClock }: MemoryStoreOptions = {}): Store {
  const sessions = new Map<string, MemorySession>();
  const records = new RecordRows(clock);
  const notifier = createChangeNotifier();
  const checkUsable = (): void => {
    if (notifier.isClosed) throw createStoreClosedError();
  };
  const openSessions = (): ReadonlyMap<string, MemorySession> => {
    checkUsable();
    return sessions;
  };
  return {
    ...createStoreReader({ openSessions, records, notifier }),
    ...createStoreWriter({ sessions, records, notifier, checkUsable }),
  };
}
