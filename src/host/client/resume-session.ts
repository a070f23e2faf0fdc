import type { AgentProfile } from "../../wire/acp/client/agent-profile.ts";
import {
  encodeAttachRequest,
  encodeExistingSessionRequest,
  type Attachment,
  type SessionLocation,
} from "../../wire/acp/client/agent-requests.ts";
import { readOpenedSession } from "../../wire/acp/client/agent-results.ts";
import type { ClientControl } from "./client.ts";
import type { Connection } from "../connection/agent-connection.ts";
import { hasErrorCode } from "../connection/error-code.ts";
import type { Report } from "../connection/host-report.ts";
import { runInReplayScope } from "./replay-scope.ts";

export interface ResumeOptions {
  /** `load` tells all that was said once more; it is used also where the agent knows no `resume`. */
  readonly mode: "resume" | "load";
  /** Whether the program can be told all once more where nothing else is left. */
  readonly canReload: boolean;
  /** Called before a session is told from its beginning, and after it. */
  readonly onHistory: (sessionId: string, state: "begins" | "ends") => void;
  /** The client controls a session, or does not any more. */
  readonly onControl: (sessionId: string, control: ClientControl) => void;
  readonly report: Report;
}

/** What a client has of a session. */
export interface TrackedSession {
  readonly sessionId: string;
  location: SessionLocation | undefined;
  attachment: Attachment | undefined;
  /** The last that it was told, where the agent says such. */
  cursor: string | undefined;
  /** It was detached, and is not to be told more. */
  isDetached: boolean;
}

export interface SessionResumer {
  /** On a new connection. */
  resume(connection: Connection, agent: AgentProfile, known: TrackedSession): Promise<void>;
  /**
   * Attaches at the session's cursor, and resumes the session with its location. A bridge that follows the session on this
   * connection already sends nothing twice. `onMissed` is called if the resume is refused.
   */
  attachAtCursor<Value>(
    connection: Connection,
    agent: AgentProfile,
    how: AttachOptions<Value>,
  ): Promise<Value>;
}

export interface AttachOptions<Value> {
  readonly session: TrackedSession;
  /** The cursor is the last update that the client has, if the agent sends cursors. */
  readonly attach: (connection: Connection, cursor?: string) => Promise<Value>;
  readonly onMissed: (error: unknown) => void;
}

export function createSessionResumer(options: ResumeOptions): SessionResumer {
  const { mode: how, canReload, onHistory, onControl, report } = options;

  async function reopen(
    connection: Connection,
    {
      known: session,
      place,
      loads: isLoad,
    }: { known: TrackedSession; place: SessionLocation; loads: boolean },
  ): Promise<void> {
    const { sessionId } = session;
    const openRequest = encodeExistingSessionRequest(isLoad ? "load" : "resume", sessionId, place);
    const request = (answered?: () => void) =>
      connection.request(openRequest, {
        onResponse(answer) {
          const opened = answer.ok ? readOpenedSession(answer.result, sessionId) : undefined;
          if (opened?.ok === true) session.cursor = opened.value.cursor ?? session.cursor;
          answered?.();
        },
      });
    await (isLoad ? runInReplayScope((state) => onHistory(sessionId, state), request) : request());
  }

  /** Never by taking over: while the client was away, control may have been given to somebody else. */
  async function reattach(
    connection: Connection,
    session: TrackedSession,
    cursor?: string,
  ): Promise<void> {
    if (session.attachment === undefined) return;
    const { sessionId } = session;
    const newAttachment = { ...session.attachment, takeOver: false };
    try {
      await connection.request(encodeAttachRequest(sessionId, { ...newAttachment, cursor }));
    } catch (error) {
      if (!hasErrorCode(error, "conflict") || newAttachment.mode === "observer") throw error;
      report("Another client controls the session now", { sessionId });
      session.attachment = { ...newAttachment, mode: "observer" };
      await connection.request(encodeAttachRequest(sessionId, { ...session.attachment, cursor }));
      onControl(sessionId, { mode: "observer", controller: null });
    }
  }

  /** From a place, or where the agent has that no longer, from where it can. */
  async function resumeFromCursor(
    connection: Connection,
    agent: AgentProfile,
    {
      known: session,
      from,
    }: { known: TrackedSession; from: SessionLocation & { readonly cursor: string } },
  ): Promise<void> {
    const { sessionId } = session;
    const { cursor: _, ...place } = from;
    try {
      await connection.request(encodeExistingSessionRequest("resume", sessionId, from));
    } catch (error) {
      if (!isRefusedCursor(error)) throw error;
      const isLoad = canReload && agent.canLoad;
      if (!isLoad)
        report("Something of what the session said may be missing", { sessionId, error });
      session.cursor = undefined;
      await reopen(connection, { known: session, place, loads: isLoad });
    }
  }

  /** Where the agent refuses the cursor, the resume that follows is refused as well, and says so. */
  async function attachFrom<Value>(
    connection: Connection,
    attach: AttachOptions<Value>["attach"],
    cursor: string,
  ): Promise<Value> {
    try {
      return await attach(connection, cursor);
    } catch (error) {
      if (!isRefusedCursor(error)) throw error;
      return attach(connection);
    }
  }

  async function attachAtCursor<Value>(
    connection: Connection,
    agent: AgentProfile,
    { session, attach, onMissed }: AttachOptions<Value>,
  ): Promise<Value> {
    const { location, cursor } = session;
    if (location === undefined || cursor === undefined || !agent.canResume)
      return attach(connection);
    const value = await attachFrom(connection, attach, cursor);
    const from = { ...location, cursor };
    await resumeFromCursor(connection, agent, { known: session, from }).catch((error) => {
      if (hasErrorCode(error, "connection_lost")) throw error;
      onMissed(error);
    });
    return value;
  }

  async function resume(
    connection: Connection,
    agent: AgentProfile,
    session: TrackedSession,
  ): Promise<void> {
    const { sessionId, location: place, cursor } = session;
    const isLoad = agent.canLoad && (how === "load" || !agent.canResume);
    if (place !== undefined && !isLoad && !agent.canResume) {
      report("The agent takes up no session; what comes of this one is not heard", { sessionId });
    }
    const resumesFromCursor = cursor !== undefined && agent.canResume && !isLoad;
    if (place !== undefined && !resumesFromCursor && (isLoad || agent.canResume)) {
      await reopen(connection, { known: session, place, loads: isLoad });
    }
    if (!resumesFromCursor && session.attachment === undefined) return;
    const attach: AttachOptions<void>["attach"] = (_, from) => reattach(connection, session, from);
    const missed = (error: unknown): never => {
      throw error;
    };
    await attachAtCursor(connection, agent, { session, attach, onMissed: missed });
  }

  return { resume, attachAtCursor };
}

/** Also one that an agent of another version cannot read. */
function isRefusedCursor(error: unknown): boolean {
  return (["cursor_gone", "cursor_ahead", "validation_failed"] as const).some((code) =>
    hasErrorCode(error, code),
  );
}
