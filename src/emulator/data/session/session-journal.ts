import type { SessionLog, SessionRecord } from "./session-log.ts";
import { applyRecord, NO_SESSION, type ServiceSessionState } from "./service-session-state.ts";

/** The log of a session and its folded state. */
export interface SessionJournal {
  readonly state: ServiceSessionState;
  /**
   * Appends a record created from the current state. Records are written one after another, and the state changes only
   * after the write.
   */
  record<Entry extends SessionRecord>(
    createEntry: (state: ServiceSessionState) => Entry,
  ): Promise<Entry>;
}

export async function openSessionJournal(log: SessionLog): Promise<SessionJournal> {
  let state = (await log.read()).reduce(applyRecord, NO_SESSION);
  let lastWrite: Promise<unknown> = Promise.resolve();
  return {
    get state() {
      return state;
    },
    record(createEntry) {
      const result = lastWrite.then(async () => {
        const entry = createEntry(state);
        await log.append(entry);
        state = applyRecord(state, entry);
        return entry;
      });
      lastWrite = result.catch(() => {});
      return result;
    },
  };
}
