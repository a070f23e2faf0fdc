import type { SessionLog, SessionRecord } from "./session-log.ts";
import { afterRecord, NO_SESSION, type SessionState } from "./session-state.ts";

/** A session's log, and what it adds up to. */
export interface SessionJournal {
  readonly state: SessionState;
  /** Adds what the state as it then is asks for. One after another, and what the log does not hold has not happened. */
  record<Entry extends SessionRecord>(entryAfter: (before: SessionState) => Entry): Promise<Entry>;
}

export async function openJournal(log: SessionLog): Promise<SessionJournal> {
  let state = (await log.read()).reduce(afterRecord, NO_SESSION);
  let recording: Promise<unknown> = Promise.resolve();
  return {
    get state() {
      return state;
    },
    record(entryAfter) {
      const recorded = recording.then(async () => {
        const entry = entryAfter(state);
        await log.append(entry);
        state = afterRecord(state, entry);
        return entry;
      });
      recording = recorded.catch(() => {});
      return recorded;
    },
  };
}
