import type { AgentEvent } from "../../domain/agent-event.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { TIMELESS_SEED_LENGTH } from "../../domain/id.ts";
import { digestOfText } from "../../platform/digest.ts";
import { newSeed, type Seed } from "../../session/new-id.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { ResponsesOptions } from "../../surfaces/responses/responses-options.ts";

/** What those are served with who compare what they are told byte for byte. */
export async function repeatable(
  sessions: Sessions,
  clock: SteadyClock,
): Promise<Pick<ResponsesOptions, "sessions" | "clock" | "newSessionId">> {
  return {
    sessions: timelessSessions(sessions),
    clock: timelessClock(clock),
    newSessionId: await countedIds(sessions),
  };
}

/** Sessions in which no time passes. */
function timelessSessions(sessions: Sessions): Sessions {
  return {
    ...sessions,
    get agents() {
      return sessions.agents;
    },
    open: async (options) => created(await sessions.open(options)),
    async find(sessionId) {
      const record = await sessions.find(sessionId);
      return record && created(record);
    },
    async *subscribe(sessionId, cursor, signal) {
      for await (const batch of sessions.subscribe(sessionId, cursor, signal)) {
        yield { ...batch, events: batch.events.map(timeless) };
      }
    },
  };
}

function created<Record extends { readonly createdAt: number }>(record: Record): Record {
  return { ...record, createdAt: MOMENT };
}

function timeless(envelope: Envelope): Envelope {
  return { ...envelope, event: timelessEvent(envelope), at: MOMENT };
}

function timelessEvent({ event, at }: Envelope): AgentEvent {
  switch (event.type) {
    case "usage.reported": {
      const { latencyMs: _, ...reported } = event;
      return reported;
    }
    case "approval.requested":
      return { ...event, deadline: MOMENT + event.deadline - at };
    default:
      return event;
  }
}

/** A clock that always says the same; what it is set to is done in time. */
function timelessClock(clock: SteadyClock): SteadyClock {
  return { ...clock, now: () => MOMENT };
}

/** The first of January 2026, in milliseconds. */
const MOMENT = 1_767_225_600_000;

/** Ids are named after their places in the log: the same log has the same ids. */
export const placeSeed: Seed = (place) =>
  place === undefined
    ? newSeed()
    : digestOfText(`${place.sessionId} ${place.seq}`).slice(0, TIMELESS_SEED_LENGTH);

/** Names for sessions that are the same in every run that begins with the same sessions. */
async function countedIds(sessions: Sessions): Promise<() => string> {
  let count = 0;
  // Those of an earlier run are taken.
  while ((await sessions.find(numbered(count))) !== undefined) count += 1;
  return () => {
    const id = numbered(count);
    count += 1;
    return id;
  };
}

function numbered(count: number): string {
  return `ses_${digestOfText(`session ${count}`).slice(0, 32)}`;
}
