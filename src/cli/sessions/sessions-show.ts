import type { SessionRecord } from "../../bridge/stored-sessions.ts";
import { toJsonText } from "../../data/json.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { formatPrettyJson } from "../../inspect/pretty-json.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import { waitForSignal } from "../shared/wait-for-signal.ts";
import {
  findSession,
  withSessionsContext,
  type SessionsFlags,
  type SessionsContext,
} from "./sessions-context.ts";
import { encodeExamined, reportProblems, openSessionLog } from "./stored-session-log.ts";
import { createTranscript } from "./transcript-encoder.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface ShowFlags extends SessionsFlags {
  readonly events?: true;
  readonly json?: true;
}

export async function runSessionsShow(
  reference: string,
  flags: ShowFlags,
  io: CommandIo,
): Promise<number> {
  return withSessionsContext(flags, io, async (run) => {
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

/**
 * Returns a function that formats an event as requested by the flags. Its result is empty for an event without output.
 */
function createEventWriter(
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

/** Formats the latest problem, for its position in the log. */
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

/** Formats an event as one line: number, time, type, and the remaining fields as JSON. */
function formatEventLine({ seq, at, event }: Envelope, style: Style): string {
  const { type, ...rest } = event;
  const facts = `${String(seq).padStart(6)}  ${formatIsoTime(at)}`;
  return `${style.dim(facts)}  ${style.strong(type)}  ${toSingleLine(toJsonText(rest))}\n`;
}

export interface TailFlags extends SessionsFlags {
  readonly from?: number;
  readonly events?: true;
  readonly json?: true;
}

export async function runSessionsTail(
  reference: string,
  flags: TailFlags,
  io: CommandIo,
): Promise<number> {
  return withSessionsContext(flags, io, async (run) => {
    const { sessions, terminal, style } = run;
    const { sessionId, incarnation } = await findSession(reference, run);
    const head = await sessions.readHead(sessionId);
    const end = new AbortController();
    void waitForSignal(io).then(() => end.abort());
    const cursor = { incarnation, seq: flags.from ?? head?.seq ?? 0 };
    const write = createEventWriter(flags, style);
    terminal.note(`following ${sessionId} after event ${cursor.seq}; press Ctrl-C to stop\n`);
    for await (const { events } of sessions.subscribe(sessionId, cursor, end.signal)) {
      for (const envelope of events) {
        if (!(await terminal.write(write(envelope)))) return 0;
      }
    }
    if (end.signal.aborted) return 0;
    throw new SpanlineError("not_found", `The session ${sessionId} was deleted`);
  });
}
