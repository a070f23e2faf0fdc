import type { Envelope } from "../../domain/envelope.ts";
import { digestOfText } from "../../platform/digest.ts";
import type { Sessions } from "../../session/sessions.ts";

/** Sessions in which no time passes, for those who compare what they are told byte for byte. */
export function timelessSessions(sessions: Sessions): Sessions {
  return {
    ...sessions,
    get agents() {
      return sessions.agents;
    },
    async *subscribe(sessionId, cursor, signal) {
      for await (const batch of sessions.subscribe(sessionId, cursor, signal)) {
        yield { ...batch, events: batch.events.map(timeless) };
      }
    },
  };
}

function timeless({ event, ...envelope }: Envelope): Envelope {
  if (event.type !== "usage.reported") return { ...envelope, event, at: MOMENT };
  const { latencyMs: _, ...reported } = event;
  return { ...envelope, event: reported, at: MOMENT };
}

/** The first of January 2026, in milliseconds. */
const MOMENT = 1_767_225_600_000;

/** Names for sessions that are the same in every run that begins with the same sessions. */
export async function countedIds(sessions: Sessions): Promise<() => string> {
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
