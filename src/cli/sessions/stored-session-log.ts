import {
  readStoredLog,
  type InspectedEvent,
  type StoredSessions,
} from "../../bridge/stored-sessions.ts";
import { pluralize } from "../../text/pluralize.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { JsonObject } from "../../data/json.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import type { Terminal } from "../../platform/terminal/terminal.ts";

/** The log of a session, read for output. */
export interface SessionLog {
  readonly sessionId: string;
  /** From the first event to the last. Can be iterated once. */
  readonly events: AsyncGenerator<InspectedEvent, void, undefined>;
  /** The unreadable places found so far, one sentence each. */
  readonly problems: readonly string[];
}

export function openSessionLog(sessions: StoredSessions, sessionId: string): SessionLog {
  const problems: string[] = [];
  async function* events(): AsyncGenerator<InspectedEvent, void, undefined> {
    for await (const { examined, problem } of readStoredLog(sessions, sessionId)) {
      if (problem !== undefined) problems.push(problem);
      yield examined;
    }
  }
  return { sessionId, events: events(), problems };
}

/** Prints the unreadable places of a log. Returns the exit code: 1 if there are any. */
export function reportProblems({ sessionId, problems }: SessionLog, terminal: Terminal): 0 | 1 {
  if (problems.length === 0) return 0;
  const lines = problems.slice(0, MAX_LISTED).map((problem) => `  ${toSingleLine(problem)}\n`);
  const extra = problems.length - lines.length;
  const omittedLine = extra > 0 ? `  and ${pluralize(extra, "more problem")}\n` : "";
  terminal.note(
    `The log of ${sessionId} cannot be read completely:\n${lines.join("")}${omittedLine}`,
  );
  return 1;
}

const MAX_LISTED = 20;

/** Encodes one position of a log as JSON: the event, or `problem` with the known facts. */
export function encodeExamined(sessionId: string, examined: InspectedEvent): Envelope | JsonObject {
  switch (examined.status) {
    case "readable":
      return examined.envelope;
    case "newer":
      return JSON.parse(JSON.stringify({ ...examined.envelope, problem: "newer" }));
    case "damaged": {
      const { seq, type, reason, raw } = examined;
      return { sessionId, seq, problem: "damaged", type, reason, raw };
    }
    case "missing": {
      const { seq, through, count } = examined;
      return { sessionId, seq, through, problem: "missing", count };
    }
    default:
      return examined satisfies never;
  }
}
