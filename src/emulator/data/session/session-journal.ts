import type { SessionLog, SessionRecord } from "./session-log.ts";
import { applyRecord, NO_SESSION, type ServiceSessionState } from "./service-session-state.ts";

/** A session's log, and what it adds up to. */
export interface SessionJournal {
  readonly state: ServiceSessionState;
  /** Adds what the state as it then is asks for. One after another, and what the log does not hold has not happened. */
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
