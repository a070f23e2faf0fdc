import type { ClientMcpServer } from "../../../domain/client-tools.ts";
import { toSpanlineError, SpanlineError } from "../../../domain/errors.ts";
import { createAcpSession, type AcpSession } from "./acp-session.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { findSession, type SessionEntry } from "./find-session.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";

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
  const joined = new Map<string, AcpSession>();

  function getOrCreate(sessionId: string): AcpSession {
    const existing = joined.get(sessionId);
    if (existing !== undefined) return existing;
    const created = createAcpSession(sessionId, link, {
      onDetached() {
        if (joined.get(sessionId) === created) joined.delete(sessionId);
      },
      isOnlySession: () => joined.size === 1,
    });
    joined.set(sessionId, created);
    return created;
  }

  const find: SessionTable["find"] = (sessionId) => findExisting(sessionId, link);
  const join: SessionTable["join"] = (sessionId, servers) =>
    attachWithTools(getOrCreate(sessionId), servers);

  /**
   * Reads the entry again after joining: joining a session of a killed process recovers it, and the recovery's events
   * are history.
   */
  const joinExisting: SessionTable["joinExisting"] = async (sessionId, servers) => {
    await find(sessionId);
    const acpSession = await join(sessionId, servers);
    return { session: acpSession, entry: await find(sessionId) };
  };

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
      if (existing?.isAttached !== true) await checkControl(sessionId, link);
      const { session: acpSession, entry } = await joinExisting(sessionId);
      await followFrom(acpSession, entry);
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

async function attachWithTools(
  session: AcpSession,
  servers: readonly ClientMcpServer[] | undefined,
): Promise<AcpSession> {
  const reply = await session.attach();
  if (reply.status === "refused") throw toSpanlineError(reply.failure);
  await session.setClientTools(servers);
  return session;
}

async function findExisting(
  sessionId: string,
  { sessions, sender }: ClientLink,
): Promise<SessionEntry> {
  const record = await findSession(sessions, sessionId, sender.principal);
  if (record !== undefined) return record;
  const message = formatUnknownName("Session", sessionId);
  throw new SpanlineError("not_found", message, { details: { sessionId } });
}

/** A host that is not attached is refused while another client controls the session. */
async function checkControl(sessionId: string, link: ClientLink): Promise<void> {
  if (!link.getProfile().usesBridge) return;
  await findExisting(sessionId, link);
  const { clients } = await link.sessions.status(sessionId);
  if (clients.some(({ role }) => role === "controller"))
    throw new SpanlineError("access_denied", CONTROLLED, { details: { sessionId } });
}

/** Sends the client every update after this entry of the session. */
async function followFrom(session: AcpSession, { seq }: SessionEntry): Promise<void> {
  try {
    await session.follow({ upTo: seq, history: "hidden" });
  } catch (error) {
    // A client that cannot follow does not keep control.
    await session.disconnect("client_exit");
    throw error;
  }
}

const CONTROLLED =
  "Another client controls this session, and this client is not attached. Fix: attach, or take over";
