import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { FULL_SEED_LENGTH, type Seed } from "../../domain/id.ts";
import { digestText } from "../../platform/digest.ts";
import { randomSeed } from "../../platform/random.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { passMethods } from "../../session/session-methods.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { ResponsesOptions } from "../../surfaces/responses/responses-options.ts";

/** Wraps the sessions for clients that compare responses byte for byte: fixed times and predictable session ids. */
export async function createDeterministicSessions(
  sessions: Sessions,
  clock: SteadyClock,
): Promise<Pick<ResponsesOptions, "sessions" | "clock" | "newSessionId">> {
  return {
    sessions: freezeSessionTimes(sessions),
    clock: createFrozenClock(clock),
    newSessionId: await createIdCounter(sessions),
  };
}

/** Returns sessions with fixed times. */
function freezeSessionTimes(sessions: Sessions): Sessions {
  return {
    ...passMethods(sessions, [
      "openWithPrompt",
      "command",
      "setClientTools",
      "status",
      "readUsage",
      "readHistory",
      "listToolRules",
      "list",
      "watchSessions",
      "readBlob",
      "readRecord",
      "putRecord",
      "deleteRecord",
      "listRecords",
      "delete",
      "checkCredentials",
      "checkLog",
    ]),
    get agents() {
      return sessions.agents;
    },
    open: async (options) => freezeCreatedAt(await sessions.open(options)),
    async find(sessionId) {
      const record = await sessions.find(sessionId);
      return record && freezeCreatedAt(record);
    },
    async *subscribe(sessionId, cursor, signal) {
      for await (const batch of sessions.subscribe(sessionId, cursor, signal)) {
        yield { ...batch, events: batch.events.map(freezeEnvelope) };
      }
    },
  };
}

function freezeCreatedAt<Record extends { readonly createdAt: number }>(record: Record): Record {
  return { ...record, createdAt: FROZEN_TIME_MS };
}

function freezeEnvelope(envelope: Envelope): Envelope {
  return { ...envelope, event: freezeEvent(envelope), at: FROZEN_TIME_MS };
}

function freezeEvent({ event, at }: Envelope): SessionEvent {
  switch (event.type) {
    case "usage.reported": {
      const { latencyMs: _, ...reported } = event;
      return reported;
    }
    case "approval.requested":
      return { ...event, deadline: FROZEN_TIME_MS + event.deadline - at };
    default:
      return event;
  }
}

/** Returns a clock with a fixed time of day. Timers still run. */
function createFrozenClock(clock: SteadyClock): SteadyClock {
  return { ...clock, now: () => FROZEN_TIME_MS };
}

/** January 1st, 2026 in milliseconds. */
const FROZEN_TIME_MS = 1_767_225_600_000;

/** Derives ids from positions in the log, so the same log has the same ids. */
export const seedFromPosition: Seed = (position) =>
  position === undefined
    ? randomSeed()
    : digestText(`${position.sessionId} ${position.seq}`).slice(0, FULL_SEED_LENGTH);

/** Generates session ids which are the same in every run that starts with the same sessions. */
async function createIdCounter(sessions: Sessions): Promise<() => string> {
  let count = 0;
  // Ids of an earlier run are in use.
  while ((await sessions.find(formatSessionId(count))) !== undefined) count += 1;
  return () => {
    const id = formatSessionId(count);
    count += 1;
    return id;
  };
}

function formatSessionId(count: number): string {
  return `ses_${digestText(`session ${count}`).slice(0, 32)}`;
}
