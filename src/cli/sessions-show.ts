import type { SessionRecord } from "../bridge/stored-sessions.ts";
import type { Envelope } from "../domain/envelope.ts";
import { prettyJson } from "../inspect/pretty-json.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import { isoTime } from "../domain/iso-time.ts";
import { eventLine } from "./sessions-event-line.ts";
import { examinedJson, reportProblems, sessionLog } from "./sessions-log.ts";
import { findSession, runSessions, type SessionsFlags, type SessionsRun } from "./sessions-run.ts";
import { sessionTranscript } from "./sessions-transcript.ts";

export interface ShowFlags extends SessionsFlags {
  readonly events?: true;
  readonly json?: true;
}

export async function showCommand(reference: string, flags: ShowFlags): Promise<number> {
  return runSessions(flags, async (run) => {
    const session = await findSession(reference, run);
    if (flags.json === true) return showJson(session, run);
    const { sessions, terminal, style } = run;
    if (!(await terminal.write(flags.events === true ? "" : headText(session, style)))) return 0;
    const write = eventWriter(flags, style);
    const log = sessionLog(sessions, session.sessionId);
    for await (const examined of log.events) {
      const text = "envelope" in examined ? write(examined.envelope) : "";
      const problem = examined.status === "readable" ? "" : problemLine(log.problems, style);
      if (!(await terminal.write(`${text}${problem}`))) break;
    }
    return reportProblems(log, terminal);
  });
}

/** Each event as the flags want it; empty where they do not. */
export function eventWriter(
  { events, json }: Pick<ShowFlags, "events" | "json">,
  style: Style,
): (envelope: Envelope) => string {
  if (json === true) return (envelope) => `${JSON.stringify(envelope)}\n`;
  if (events === true) return (envelope) => eventLine(envelope, style);
  const transcript = sessionTranscript(style);
  const state = transcript.initial();
  return (envelope) => {
    let text = "";
    transcript.step(state, envelope, (piece) => (text += piece));
    return text;
  };
}

async function showJson(
  session: SessionRecord,
  { sessions, terminal }: SessionsRun,
): Promise<number> {
  const { sessionId } = session;
  const log = sessionLog(sessions, sessionId);
  const events: unknown[] = [];
  for await (const examined of log.events) events.push(examinedJson(sessionId, examined));
  await terminal.write(`${prettyJson({ ...session, events })}\n`);
  return reportProblems(log, terminal);
}

/** The last problem, at its place in the log. */
function problemLine(problems: readonly string[], style: Style): string {
  return `${style.bad(`[${oneLine(problems.at(-1) ?? "")}]`)}\n`;
}

function headText(session: SessionRecord, style: Style): string {
  const { sessionId, title, agent, principal, state, workingDirectory } = session;
  const facts: readonly (readonly [name: string, value: string | null])[] = [
    ["id", sessionId],
    ["agent", agent],
    ["of", principal === "local" ? null : principal],
    ["state", state],
    ["folder", workingDirectory],
    ["created", isoTime(session.createdAt)],
    ["changed", isoTime(session.updatedAt)],
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === null ? [] : [`  ${name.padEnd(7)}  ${oneLine(value)}`],
  );
  return `${[style.strong(oneLine(title ?? "(no title)")), ...lines].join("\n")}\n`;
}
