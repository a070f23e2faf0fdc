import type { LiveClients } from "../domain/live-client.ts";
import type { AgentProfile } from "../wire/acp/client/agent-profile.ts";
import type { Attachment, SessionPlace } from "../wire/acp/client/agent-requests.ts";
import { readLiveClients, type OpenedSession } from "../wire/acp/client/agent-results.ts";
import type { ToldUpdate } from "../wire/acp/client/read-update.ts";
import type { Connection } from "./connection.ts";
import { isCode } from "./is-code.ts";
import { takeUpSession, type KnownSession, type TakeUpOptions } from "./take-up-session.ts";

/** The sessions that a client has open, and what it is in each: what the next connection is to take up. */
export interface KnownSessions {
  open(opened: Pick<OpenedSession, "sessionId" | "cursor">, place: SessionPlace): void;
  forget(sessionId: string): void;
  attached(sessionId: string, attachment: Attachment): void;
  detached(sessionId: string): void;
  attachmentOf(sessionId: string): Attachment | undefined;
  /** Who is attached now, by an answer. Somebody may have taken control. */
  live(sessionId: string, clients: LiveClients): void;
  /** The same by an update, and how far the session was told. */
  told(told: ToldUpdate): void;
  /** Attaches, after which a bridge tells only what comes; then goes on from what was told before. */
  inPlace<Value>(
    connection: Connection,
    agent: AgentProfile,
    how: {
      readonly sessionId: string;
      readonly attach: (connection: Connection) => Promise<Value>;
    },
  ): Promise<Value>;
  /** On a new connection. */
  takeUp(connection: Connection, agent: AgentProfile): Promise<void>;
}

export function knownSessions(options: TakeUpOptions): KnownSessions {
  const { control, report } = options;
  const sessions = new Map<string, KnownSession>();
  const entrance = takeUpSession(options);

  function knownAs(sessionId: string): KnownSession {
    const known = sessions.get(sessionId) ?? unknown(sessionId);
    sessions.set(sessionId, known);
    return known;
  }

  function live(sessionId: string, { clients, controller }: LiveClients): void {
    const known = sessions.get(sessionId);
    if (known?.attachment === undefined) return;
    const { clientId, mode: before } = known.attachment;
    const own = clients.find((one) => one.clientId === clientId);
    if (own === undefined || own.mode === before) return;
    known.attachment = { ...known.attachment, mode: own.mode };
    control(sessionId, { mode: own.mode, controller });
  }

  return {
    open({ sessionId, cursor }, place) {
      const known = knownAs(sessionId);
      known.place = place;
      known.isLeft = false;
      if (cursor !== undefined) known.cursor = cursor;
    },
    forget: (sessionId) => void sessions.delete(sessionId),
    attached(sessionId, attachment) {
      const known = knownAs(sessionId);
      known.attachment = attachment;
      known.isLeft = false;
    },
    detached(sessionId) {
      const known = sessions.get(sessionId);
      if (known === undefined) return;
      known.attachment = undefined;
      // Who attaches again goes on from there.
      known.isLeft = true;
    },
    attachmentOf: (sessionId) => sessions.get(sessionId)?.attachment,
    live,
    told({ sessionId, update, cursor }) {
      const known = sessions.get(sessionId);
      if (known !== undefined && cursor !== undefined) known.cursor = cursor;
      if (update.type !== "extension" || update.name !== "live_session_client") return;
      const clients = readLiveClients(update.fields["state"] ?? null);
      if (clients.ok) live(sessionId, clients.value);
    },
    inPlace: (connection, agent, { sessionId, attach }) =>
      entrance.inPlace(connection, agent, {
        known: sessions.get(sessionId) ?? unknown(sessionId),
        attach,
        missed(error) {
          if (isCode(error, "not_found")) throw error;
          // It is attached, and hears what comes.
          report("Something of what the session said may be missing", { sessionId, error });
        },
      }),
    async takeUp(connection, agent) {
      for (const [sessionId, known] of sessions) {
        if (known.isLeft) continue;
        try {
          await entrance.again(connection, agent, known);
        } catch (error) {
          if (isCode(error, "connection_lost")) throw error;
          report("A session could not be taken up again", { sessionId, error });
          if (isCode(error, "not_found")) sessions.delete(sessionId);
        }
      }
    },
  };
}

function unknown(sessionId: string): KnownSession {
  return { sessionId, place: undefined, attachment: undefined, cursor: undefined, isLeft: false };
}
