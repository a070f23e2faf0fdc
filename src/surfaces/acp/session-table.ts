import type { BroughtServer } from "../../domain/equipment.ts";
import { errorFrom, SpanlineError } from "../../domain/errors.ts";
import { createAcpSession, type AcpSession } from "./acp-session.ts";
import type { ClientLink } from "./client-link.ts";
import { findSession, type SessionEntry } from "./find-session.ts";

/** The sessions that the client of one connection is in. */
export interface SessionTable {
  /** Rejects where there is none that this client may know of. */
  find(sessionId: string): Promise<SessionEntry>;
  known(sessionId: string): AcpSession | undefined;
  /** By their ids. */
  all(): Iterable<readonly [sessionId: string, session: AcpSession]>;
  /** The session, which the client is perhaps not in yet. */
  session(sessionId: string): AcpSession;
  /** Puts the client into a session, with what it brings. */
  join(sessionId: string, servers?: readonly BroughtServer[]): Promise<AcpSession>;
  /** The same with one that was there, and how far it had come. */
  joinExisting(sessionId: string, servers?: readonly BroughtServer[]): Promise<Joined>;
  /** A session that this connection has neither begun nor loaded is taken up where it is. */
  takeUp(sessionId: string): Promise<AcpSession>;
  forget(sessionId: string): void;
}

export interface Joined {
  readonly session: AcpSession;
  readonly entry: SessionEntry;
}

export function sessionTable(link: ClientLink): SessionTable {
  const { sessions, sender } = link;
  const joined = new Map<string, AcpSession>();

  function session(sessionId: string): AcpSession {
    const known = joined.get(sessionId);
    if (known !== undefined) return known;
    const created = createAcpSession(sessionId, link, () => {
      if (joined.get(sessionId) === created) joined.delete(sessionId);
    });
    joined.set(sessionId, created);
    return created;
  }

  async function find(sessionId: string): Promise<SessionEntry> {
    const found = await findSession(sessions, sessionId, sender.principal);
    if (found !== undefined) return found;
    throw new SpanlineError("not_found", "There is no such session", { details: { sessionId } });
  }

  async function join(sessionId: string, servers?: readonly BroughtServer[]): Promise<AcpSession> {
    const own = session(sessionId);
    const reply = await own.attach();
    if (reply.status === "refused") throw errorFrom(reply.failure);
    await own.equip(servers);
    return own;
  }

  /** Looks twice: to join a session whose process was killed is to recover it, and that is part of what was before. */
  const joinExisting: SessionTable["joinExisting"] = async (sessionId, servers) => {
    await find(sessionId);
    const own = await join(sessionId, servers);
    return { session: own, entry: await find(sessionId) };
  };

  /** A host that is not attached stays out of a session that another client controls. */
  async function checkControl(sessionId: string): Promise<void> {
    if (!link.profile().usesBridge) return;
    await find(sessionId);
    const { clients } = await sessions.peek(sessionId);
    if (clients.some(({ mode }) => mode === "controller"))
      throw new SpanlineError("access_denied", CONTROLLED, { details: { sessionId } });
  }

  return {
    find,
    known: (sessionId) => joined.get(sessionId),
    all: () => [...joined],
    session,
    join,
    joinExisting,
    async takeUp(sessionId) {
      const known = joined.get(sessionId);
      if (known?.isFollowed === true) return known;
      if (known?.isAttached !== true) await checkControl(sessionId);
      const { session: own, entry } = await joinExisting(sessionId);
      await own.follow({ upTo: entry.seq, history: "hidden" });
      return own;
    },
    forget(sessionId) {
      joined.delete(sessionId);
    },
  };
}

const CONTROLLED =
  "Another client controls this session, and this one is not attached; attach, or take over";
