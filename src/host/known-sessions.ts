import { SpanlineError } from "../domain/errors.ts";
import type { AgentProfile } from "../wire/acp/client/agent-profile.ts";
import {
  attachRequest,
  takeUpRequest,
  type Attachment,
  type SessionPlace,
} from "../wire/acp/client/agent-requests.ts";
import { readLiveClients, type OpenedSession } from "../wire/acp/client/agent-results.ts";
import type { ToldUpdate } from "../wire/acp/client/read-update.ts";
import type { LiveClients } from "../domain/live-client.ts";
import type { Control } from "./client.ts";
import type { Connection } from "./connection.ts";
import type { HeldUpdates } from "./held-updates.ts";
import type { Report } from "./report.ts";

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
    how: Attaching<Value>,
  ): Promise<Value>;
  /** On a new connection. */
  takeUp(connection: Connection, agent: AgentProfile): Promise<void>;
}

interface Attaching<Value> {
  readonly sessionId: string;
  readonly attach: (connection: Connection) => Promise<Value>;
}

export interface TakeUpOptions {
  /** `load` tells all that was said once more; it is used also where the agent knows no `resume`. */
  readonly how: "resume" | "load";
  /** Called before a session is told from its beginning, and after it. */
  readonly history: (sessionId: string, state: "begins" | "ends") => void;
  /** The client controls a session, or does not any more. */
  readonly control: (sessionId: string, control: Control) => void;
  readonly held: HeldUpdates;
  /** Takes updates that were held. */
  readonly pass: (told: ToldUpdate) => void;
  readonly report: Report;
}

interface Known {
  place: SessionPlace | undefined;
  attachment: Attachment | undefined;
  cursor: string | undefined;
}

export function knownSessions(options: TakeUpOptions): KnownSessions {
  const { how, history, control, held, pass, report } = options;
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

  function live(sessionId: string, { clients, controller }: LiveClients): void {
    const known = sessions.get(sessionId);
    if (known?.attachment === undefined) return;
    const { clientId, mode: before } = known.attachment;
    const own = clients.find((one) => one.clientId === clientId);
    if (own === undefined || own.mode === before) return;
    known.attachment = { ...known.attachment, mode: own.mode };
    control(sessionId, { mode: own.mode, controller });
  }

  async function resume(
    connection: Connection,
    { sessionId, place, loads }: { sessionId: string; place: SessionPlace; loads: boolean },
  ): Promise<void> {
    if (loads) history(sessionId, "begins");
    try {
      await connection.request(takeUpRequest(loads ? "load" : "resume", sessionId, place));
    } finally {
      if (loads) history(sessionId, "ends");
    }
  }

  /** Never by taking over: while the client was away, control may have been given to somebody else. */
  async function attach(connection: Connection, sessionId: string, known: Known): Promise<void> {
    if (known.attachment === undefined) return;
    const wanted = { ...known.attachment, takeOver: false };
    try {
      await connection.request(attachRequest(sessionId, wanted));
    } catch (error) {
      if (!isCode(error, "conflict") || wanted.mode === "observer") throw error;
      report("Another client controls the session now", { sessionId });
      known.attachment = { ...wanted, mode: "observer" };
      await connection.request(attachRequest(sessionId, known.attachment));
      control(sessionId, { mode: "observer", controller: null });
    }
  }

  async function inPlace<Value>(
    connection: Connection,
    { canResume }: AgentProfile,
    { sessionId, attach: wanted }: Attaching<Value>,
  ): Promise<Value> {
    const { place, cursor } = sessions.get(sessionId) ?? {};
    if (place === undefined || cursor === undefined || !canResume) return wanted(connection);
    held.hold(sessionId);
    try {
      const value = await wanted(connection);
      await connection
        .request(takeUpRequest("resume", sessionId, { ...place, cursor }))
        .catch(unlessLost(sessionId));
      for (const told of held.release(sessionId)) pass(told);
      return value;
    } catch (error) {
      const kept = held.release(sessionId);
      // Of what was lost with the connection, the next one tells it again.
      if (!isCode(error, "connection_lost")) for (const told of kept) pass(told);
      throw error;
    }
  }

  function unlessLost(sessionId: string): (error: unknown) => void {
    return (error) => {
      if (isCode(error, "connection_lost")) throw error;
      report("Something of what the session said may be missing", { sessionId, error });
    };
  }

  async function takeUpOne(
    connection: Connection,
    agent: AgentProfile,
    [sessionId, known]: [string, Known],
  ): Promise<void> {
    const { place, cursor } = known;
    const loads = agent.canLoad && (how === "load" || !agent.canResume);
    if (place !== undefined && !loads && !agent.canResume) {
      report("The agent takes up no session; what comes of this one is not heard", { sessionId });
    }
    const goesOn = cursor !== undefined && agent.canResume && !loads;
    if (place !== undefined && !goesOn && (loads || agent.canResume)) {
      await resume(connection, { sessionId, place, loads });
    }
    if (!goesOn && known.attachment === undefined) return;
    const again = (): Promise<void> => attach(connection, sessionId, known);
    await inPlace(connection, agent, { sessionId, attach: again });
  }

  return {
    open({ sessionId, cursor }, place) {
      const known = knownAs(sessionId);
      known.place = place;
      if (cursor !== undefined) known.cursor = cursor;
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
    told({ sessionId, update, cursor }) {
      const known = sessions.get(sessionId);
      if (known !== undefined && cursor !== undefined) known.cursor = cursor;
      if (update.type !== "extension" || update.name !== "live_session_client") return;
      const clients = readLiveClients(update.fields["state"] ?? null);
      if (clients.ok) live(sessionId, clients.value);
    },
    inPlace,
    async takeUp(connection, agent) {
      for (const each of sessions) {
        try {
          await takeUpOne(connection, agent, each);
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
