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

export interface ResumeOptions {
  /** How sessions are resumed. `load` replays the history; it is also used if the agent does not support `resume`. */
  readonly mode: "resume" | "load";
  /** Whether the program can handle a replay of the history, used if the agent refuses the cursor. */
  readonly canReload: boolean;
  /** Called before and after a replay of a session's history. */
  readonly onHistory: (sessionId: string, state: "begins" | "ends") => void;
  /** Called when the client gains or loses control of a session. */
  readonly onControl: (sessionId: string, control: ClientControl) => void;
  readonly report: Report;
}

/** The state a client keeps of a session. */
export interface TrackedSession {
  readonly sessionId: string;
  location: SessionLocation | undefined;
  attachment: Attachment | undefined;
  /** Cursor of the last received update. Undefined if the agent does not send cursors. */
  cursor: string | undefined;
  /** Whether the client was detached: the session is not resumed after a reconnect. */
  isDetached: boolean;
}

export interface SessionResumer {
  /** Resumes a session on a new connection. */
  resume(connection: Connection, agent: AgentProfile, known: TrackedSession): Promise<void>;
  /**
   * Attaches at the session's cursor and resumes the session at its location. A bridge that already follows the session
   * on this connection sends no update twice. `onMissed` is called if the resume is refused.
   */
  attachAtCursor<Value>(
    connection: Connection,
    agent: AgentProfile,
    how: AttachOptions<Value>,
  ): Promise<Value>;
}

export interface AttachOptions<Value> {
  readonly session: TrackedSession;
  /** `cursor`: the last update received by the client, if the agent sends cursors. */
  readonly attach: (connection: Connection, cursor?: string) => Promise<Value>;
  readonly onMissed: (error: unknown) => void;
}

export function createSessionResumer(options: ResumeOptions): SessionResumer {
  return new CursorResumer(options);
}

class CursorResumer implements SessionResumer {
  readonly #options: ResumeOptions;

  constructor(options: ResumeOptions) {
    this.#options = options;
  }

  async resume(
    connection: Connection,
    agent: AgentProfile,
    session: TrackedSession,
  ): Promise<void> {
    const { sessionId, location: place, cursor } = session;
    const { mode, report } = this.#options;
    const isLoad = agent.canLoad && (mode === "load" || !agent.canResume);
    if (place !== undefined && !isLoad && !agent.canResume) {
      report("The agent cannot resume sessions; later updates of this session are not received", {
        sessionId,
      });
    }
    const resumesFromCursor = cursor !== undefined && agent.canResume && !isLoad;
    if (place !== undefined && !resumesFromCursor && (isLoad || agent.canResume)) {
      await this.#reopen(connection, { known: session, place, loads: isLoad });
    }
    if (!resumesFromCursor && session.attachment === undefined) return;
    const attach: AttachOptions<void>["attach"] = (_, from) =>
      this.#reattach(connection, session, from);
    const missed = (error: unknown): never => {
      throw error;
    };
    await this.attachAtCursor(connection, agent, { session, attach, onMissed: missed });
  }

  async #reopen(
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
    await (isLoad
      ? runInReplayScope((state) => this.#options.onHistory(sessionId, state), request)
      : request());
  }

  /** Attaches again without takeover: another client may have taken control while this client was disconnected. */
  async #reattach(connection: Connection, session: TrackedSession, cursor?: string): Promise<void> {
    if (session.attachment === undefined) return;
    const { report, onControl } = this.#options;
    const { sessionId } = session;
    const newAttachment = { ...session.attachment, takeOver: false };
    try {
      await connection.request(encodeAttachRequest(sessionId, { ...newAttachment, cursor }));
    } catch (error) {
      if (!hasErrorCode(error, "conflict") || newAttachment.mode === "observer") throw error;
      report("Another client now controls the session", { sessionId });
      session.attachment = { ...newAttachment, mode: "observer" };
      await connection.request(encodeAttachRequest(sessionId, { ...session.attachment, cursor }));
      onControl(sessionId, { mode: "observer", controller: null });
    }
  }

  /** Resumes from the cursor. If the agent refuses the cursor, loads or resumes without it. */
  async #resumeFromCursor(
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
      const { canReload, report } = this.#options;
      const isLoad = canReload && agent.canLoad;
      if (!isLoad) report("Some updates of the session may be missing", { sessionId, error });
      session.cursor = undefined;
      await this.#reopen(connection, { known: session, place, loads: isLoad });
    }
  }

  async attachAtCursor<Value>(
    connection: Connection,
    agent: AgentProfile,
    { session, attach, onMissed }: AttachOptions<Value>,
  ): Promise<Value> {
    const { location, cursor } = session;
    if (location === undefined || cursor === undefined || !agent.canResume)
      return attach(connection);
    const value = await attachFrom(connection, attach, cursor);
    const from = { ...location, cursor };
    await this.#resumeFromCursor(connection, agent, { known: session, from }).catch((error) => {
      if (hasErrorCode(error, "connection_lost")) throw error;
      onMissed(error);
    });
    return value;
  }
}

/**
 * Attaches without the cursor if the agent refuses it. The following resume is then refused too, and reports the gap.
 */
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

/** Includes cursors in a format the agent's version cannot parse. */
function isRefusedCursor(error: unknown): boolean {
  return (["cursor_gone", "cursor_ahead", "validation_failed"] as const).some((code) =>
    hasErrorCode(error, code),
  );
}

/**
 * Sends a request during which the agent replays a session's history, and reports the begin and end of the replay.
 * `send` calls its argument when the response arrives: updates right after the response are already live.
 */
export async function runInReplayScope<Value>(
  onState: (state: "begins" | "ends") => void,
  send: (answered: () => void) => Promise<Value>,
): Promise<Value> {
  let isReplaying = true;
  const end = (): void => {
    if (isReplaying) onState("ends");
    isReplaying = false;
  };
  onState("begins");
  try {
    return await send(end);
  } finally {
    end();
  }
}
