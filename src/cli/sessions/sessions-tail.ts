import { SpanlineError } from "../../domain/errors.ts";
import { findSession, withSessionsContext, type SessionsFlags } from "./sessions-context.ts";
import { createEventWriter } from "./sessions-show.ts";
import { waitForSignal } from "../shared/wait-for-signal.ts";

export interface TailFlags extends SessionsFlags {
  readonly from?: number;
  readonly events?: true;
  readonly json?: true;
}

export async function runSessionsTail(reference: string, flags: TailFlags): Promise<number> {
  return withSessionsContext(flags, async (run) => {
    const { sessions, terminal, style } = run;
    const { sessionId, incarnation } = await findSession(reference, run);
    const head = await sessions.readHead(sessionId);
    const end = new AbortController();
    void waitForSignal().then(() => end.abort());
    const cursor = { incarnation, seq: flags.from ?? head?.seq ?? 0 };
    const write = createEventWriter(flags, style);
    terminal.note(`following ${sessionId} behind event ${cursor.seq}; Ctrl-C ends it\n`);
    for await (const { events } of sessions.subscribe(sessionId, cursor, end.signal)) {
      for (const envelope of events) {
        if (!(await terminal.write(write(envelope)))) return 0;
      }
    }
    if (end.signal.aborted) return 0;
    throw new SpanlineError("not_found", `The session ${sessionId} is gone`);
  });
}
