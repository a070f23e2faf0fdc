import { SpanlineError } from "../domain/errors.ts";
import type { AgentProfile } from "../wire/acp/client/agent-profile.ts";
import {
  attachRequest,
  takeUpRequest,
  type Attachment,
  type SessionPlace,
} from "../wire/acp/client/agent-requests.ts";
import { readLiveClients } from "../wire/acp/client/agent-results.ts";
import type { SeenUpdate } from "../wire/acp/client/seen-update.ts";
import type { LiveClients } from "../domain/live-client.ts";
import type { Connection } from "./connection.ts";
import type { Report } from "./report.ts";

/** The sessions that a client has open, and what it is in each: what the next connection is to take up. */
export interface KnownSessions {
  open(sessionId: string, place: SessionPlace): void;
  forget(sessionId: string): void;
  attached(sessionId: string, attachment: Attachment): void;
  detached(sessionId: string): void;
  attachmentOf(sessionId: string): Attachment | undefined;
  /** Who is attached now, by an answer. Somebody may have taken control. */
  live(sessionId: string, clients: LiveClients): void;
  /** The same by an update, and how far the session was told. */
  told(sessionId: string, update: SeenUpdate, cursor: string | undefined): void;
  /** On a new connection. */
  takeUp(connection: Connection, agent: AgentProfile): Promise<void>;
}

export interface TakeUpOptions {
  /** `load` tells all that was said once more; it is used also where the agent knows no `resume`. */
  readonly how: "resume" | "load";
  /** Called before a session is told from its beginning, and after it. */
  readonly history: (sessionId: string, state: "begins" | "ends") => void;
  readonly report: Report;
}

interface Known {
  place: SessionPlace | undefined;
  attachment: Attachment | undefined;
  cursor: string | undefined;
}

export function knownSessions({ how, history, report }: TakeUpOptions): KnownSessions {
  const sessions = new Map<string, Known>();

  function knownAs(sessionId: string): Known {
    const known = sessions.get(sessionId) ?? {
      place: undefined,
      attachment: undefined,
      cursor: undefined,
    };
    sessions.set(sessionId, known);
    return known;
  }

  function live(sessionId: string, { clients }: LiveClients): void {
    const known = sessions.get(sessionId);
    if (known?.attachment === undefined) return;
    const { clientId } = known.attachment;
    const own = clients.find((one) => one.clientId === clientId);
    if (own !== undefined) known.attachment = { ...known.attachment, mode: own.mode };
  }

  async function resume(
    connection: Connection,
    agent: AgentProfile,
    [sessionId, { place, cursor }]: [string, Known],
  ): Promise<void> {
    if (place === undefined) return;
    const loads = agent.canLoad && (how === "load" || !agent.canResume);
    if (!loads && !agent.canResume) {
      return report("The agent takes up no session; what comes of this one is not heard", {
        sessionId,
      });
    }
    if (loads) history(sessionId, "begins");
    try {
      const setup = { ...place, ...(!loads && cursor !== undefined && { cursor }) };
      await connection.request(takeUpRequest(loads ? "load" : "resume", sessionId, setup));
    } finally {
      if (loads) history(sessionId, "ends");
    }
  }

  /** Never by taking over: while the client was away, control may have been given to somebody else. */
  async function attach(
    connection: Connection,
    [sessionId, known]: [string, Known],
  ): Promise<void> {
    if (known.attachment === undefined) return;
    const wanted = { ...known.attachment, takeOver: false };
    try {
      await connection.request(attachRequest(sessionId, wanted));
    } catch (error) {
      if (!isCode(error, "conflict") || wanted.mode === "observer") throw error;
      report("Another client controls the session now", { sessionId });
      known.attachment = { ...wanted, mode: "observer" };
      await connection.request(attachRequest(sessionId, known.attachment));
    }
  }

  return {
    open(sessionId, place) {
      knownAs(sessionId).place = place;
    },
    forget: (sessionId) => void sessions.delete(sessionId),
    attached(sessionId, attachment) {
      knownAs(sessionId).attachment = attachment;
    },
    detached(sessionId) {
      const known = sessions.get(sessionId);
      if (known?.place === undefined) sessions.delete(sessionId);
      else known.attachment = undefined;
    },
    attachmentOf: (sessionId) => sessions.get(sessionId)?.attachment,
    live,
    told(sessionId, update, cursor) {
      const known = sessions.get(sessionId);
      if (known !== undefined && cursor !== undefined) known.cursor = cursor;
      if (update.type !== "extension" || update.name !== "live_session_client") return;
      const clients = readLiveClients(update.fields["state"] ?? null);
      if (clients.ok) live(sessionId, clients.value);
    },
    async takeUp(connection, agent) {
      for (const each of sessions) {
        try {
          await resume(connection, agent, each);
          await attach(connection, each);
        } catch (error) {
          if (isCode(error, "connection_lost")) throw error;
          const [sessionId] = each;
          report("A session could not be taken up again", { sessionId, error });
          if (isCode(error, "not_found")) sessions.delete(sessionId);
        }
      }
    },
  };
}

export function isCode(error: unknown, code: SpanlineError["code"]): boolean {
  return error instanceof SpanlineError && error.code === code;
}
