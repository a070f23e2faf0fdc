import type { ClientMcpServer } from "../../../domain/client-tools.ts";
import { toSpanlineError, SpanlineError } from "../../../domain/errors.ts";
import { createAcpSession, type AcpSession } from "./acp-session.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { findSession, type SessionEntry } from "./find-session.ts";

/** The sessions that the client of one connection is in. */
export interface SessionTable {
  /** Rejects where there is none that this client may know of. */
  find(sessionId: string): Promise<SessionEntry>;
  get(sessionId: string): AcpSession | undefined;
  /** By their ids. */
  all(): Iterable<readonly [sessionId: string, session: AcpSession]>;
  /** The session, which the client is perhaps not in yet. */
  getOrCreate(sessionId: string): AcpSession;
  /** Puts the client into a session, with what it brings. */
  join(sessionId: string, servers?: readonly ClientMcpServer[]): Promise<AcpSession>;
  /** The same with one that was there, and how far it had come. */
  joinExisting(sessionId: string, servers?: readonly ClientMcpServer[]): Promise<JoinedSession>;
  /** A session that this connection has neither begun nor loaded is taken up where it is. */
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
    throw new SpanlineError("not_found", "There is no such session", { details: { sessionId } });
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

  /** Looks twice: to join a session whose process was killed is to recover it, and that is part of what was before. */
  const joinExisting: SessionTable["joinExisting"] = async (sessionId, servers) => {
    await find(sessionId);
    const acpSession = await join(sessionId, servers);
    return { session: acpSession, entry: await find(sessionId) };
  };

  /** A host that is not attached stays out of a session that another client controls. */
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
  "Another client controls this session, and this one is not attached; attach, or take over";
