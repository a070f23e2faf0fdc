import type { SessionRecord } from "../../bridge/stored-sessions.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { formatPrettyJson } from "../../inspect/pretty-json.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import { formatEventLine } from "./event-line.ts";
import { encodeExamined, reportProblems, openSessionLog } from "./stored-session-log.ts";
import {
  findSession,
  withSessionsContext,
  type SessionsFlags,
  type SessionsContext,
} from "./sessions-context.ts";
import { createTranscript } from "./transcript-encoder.ts";

export interface ShowFlags extends SessionsFlags {
  readonly events?: true;
  readonly json?: true;
}

export async function runSessionsShow(reference: string, flags: ShowFlags): Promise<number> {
  return withSessionsContext(flags, async (run) => {
    const session = await findSession(reference, run);
    if (flags.json === true) return writeJson(session, run);
    const { sessions, terminal, style } = run;
    if (!(await terminal.write(flags.events === true ? "" : formatHead(session, style)))) return 0;
    const write = createEventWriter(flags, style);
    const log = openSessionLog(sessions, session.sessionId);
    for await (const examined of log.events) {
      const text = "envelope" in examined ? write(examined.envelope) : "";
      const problem = examined.status === "readable" ? "" : formatProblem(log.problems, style);
      if (!(await terminal.write(`${text}${problem}`))) break;
    }
    return reportProblems(log, terminal);
  });
}

/** Each event as the flags want it; empty where they do not. */
export function createEventWriter(
  { events, json }: Pick<ShowFlags, "events" | "json">,
  style: Style,
): (envelope: Envelope) => string {
  if (json === true) return (envelope) => `${JSON.stringify(envelope)}\n`;
  if (events === true) return (envelope) => formatEventLine(envelope, style);
  const transcript = createTranscript(style);
  const state = transcript.initial();
  return (envelope) => {
    let text = "";
    transcript.step(state, envelope, (piece) => (text += piece));
    return text;
  };
}

async function writeJson(
  session: SessionRecord,
  { sessions, terminal }: SessionsContext,
): Promise<number> {
  const { sessionId } = session;
  const log = openSessionLog(sessions, sessionId);
  const events: unknown[] = [];
  for await (const examined of log.events) events.push(encodeExamined(sessionId, examined));
  await terminal.write(`${formatPrettyJson({ ...session, events })}\n`);
  return reportProblems(log, terminal);
}

/** The last problem, at its place in the log. */
function formatProblem(problems: readonly string[], style: Style): string {
  return `${style.bad(`[${toSingleLine(problems.at(-1) ?? "")}]`)}\n`;
}

function formatHead(session: SessionRecord, style: Style): string {
  const { sessionId, title, agent, principal, state, workingDirectory } = session;
  const facts: readonly (readonly [name: string, value: string | null])[] = [
    ["id", sessionId],
    ["agent", agent],
    ["of", principal === "local" ? null : principal],
    ["state", state],
    ["folder", workingDirectory],
    ["created", formatIsoTime(session.createdAt)],
    ["changed", formatIsoTime(session.updatedAt)],
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === null ? [] : [`  ${name.padEnd(7)}  ${toSingleLine(value)}`],
  );
  return `${[style.strong(toSingleLine(title ?? "(no title)")), ...lines].join("\n")}\n`;
}
