import type { ClientMcpServer } from "../../../domain/client-tools.ts";
import { toSpanlineError, SpanlineError } from "../../../domain/errors.ts";
import { createAcpSession, type AcpSession } from "./acp-session.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { findSession, type SessionEntry } from "./find-session.ts";

/** The sessions of one connection's client. */
export interface SessionTable {
  /** Rejects with `not_found` if the session does not exist or belongs to another principal. */
  find(sessionId: string): Promise<SessionEntry>;
  get(sessionId: string): AcpSession | undefined;
  /** All sessions, by id. */
  all(): Iterable<readonly [sessionId: string, session: AcpSession]>;
  /** The session's object, created on first use. The client may not be attached yet. */
  getOrCreate(sessionId: string): AcpSession;
  /** Attaches the client to a session and sets its client tools. */
  join(sessionId: string, servers?: readonly ClientMcpServer[]): Promise<AcpSession>;
  /** Joins an existing session and returns its entry in the list of sessions. */
  joinExisting(sessionId: string, servers?: readonly ClientMcpServer[]): Promise<JoinedSession>;
  /** Returns the session, and joins it first if this connection has neither opened nor loaded it. */
  resume(sessionId: string): Promise<AcpSession>;
  /** Cancels the client's turns in the session, and removes the session, which stays in the table until then. */
  close(sessionId: string): Promise<void>;
}

export interface JoinedSession {
  readonly session: AcpSession;
  readonly entry: SessionEntry;
}

export function createSessionTable(link: ClientLink): SessionTable {
  const { sessions, sender } = link;
  const joined = new Map<string, AcpSession>();

  function getOrCreate(sessionId: string): AcpSession {
    const existing = joined.get(sessionId);
    if (existing !== undefined) return existing;
    const created = createAcpSession(sessionId, link, () => {
      if (joined.get(sessionId) === created) joined.delete(sessionId);
    });
    joined.set(sessionId, created);
    return created;
  }

  async function find(sessionId: string): Promise<SessionEntry> {
    const record = await findSession(sessions, sessionId, sender.principal);
    if (record !== undefined) return record;
    throw new SpanlineError("not_found", "The session does not exist", { details: { sessionId } });
  }

  async function join(
    sessionId: string,
    servers?: readonly ClientMcpServer[],
  ): Promise<AcpSession> {
    const acpSession = getOrCreate(sessionId);
    const reply = await acpSession.attach();
    if (reply.status === "refused") throw toSpanlineError(reply.failure);
    await acpSession.setClientTools(servers);
    return acpSession;
  }

  /**
   * Reads the entry again after joining: joining a session of a killed process recovers it, and the recovery's events
   * are history.
   */
  const joinExisting: SessionTable["joinExisting"] = async (sessionId, servers) => {
    await find(sessionId);
    const acpSession = await join(sessionId, servers);
    return { session: acpSession, entry: await find(sessionId) };
  };

  /** A host that is not attached is refused while another client controls the session. */
  async function checkControl(sessionId: string): Promise<void> {
    if (!link.getProfile().usesBridge) return;
    await find(sessionId);
    const { clients } = await sessions.status(sessionId);
    if (clients.some(({ role }) => role === "controller"))
      throw new SpanlineError("access_denied", CONTROLLED, { details: { sessionId } });
  }

  return {
    find,
    get: (sessionId) => joined.get(sessionId),
    all: () => [...joined],
    getOrCreate,
    join,
    joinExisting,
    async resume(sessionId) {
      const existing = joined.get(sessionId);
      if (existing?.isFollowing === true) return existing;
      if (existing?.isAttached !== true) await checkControl(sessionId);
      const { session: acpSession, entry } = await joinExisting(sessionId);
      try {
        await acpSession.follow({ upTo: entry.seq, history: "hidden" });
      } catch (error) {
        // A client that cannot follow does not keep control.
        await acpSession.disconnect("client_exit");
        throw error;
      }
      return acpSession;
    },
    async close(sessionId) {
      try {
        await joined.get(sessionId)?.close();
      } finally {
        joined.delete(sessionId);
      }
    },
  };
}

const CONTROLLED =
  "Another client controls this session, and this client is not attached. Fix: attach, or take over";
