import type { ClientStatus } from "../../domain/live-client.ts";
import type { AgentProfile } from "../../wire/acp/client/agent-profile.ts";
import type { Attachment, SessionLocation } from "../../wire/acp/client/agent-requests.ts";
import { readLiveClients, type OpenedSession } from "../../wire/acp/client/agent-results.ts";
import type { ReceivedUpdate } from "../../wire/acp/client/read-update.ts";
import type { Connection } from "../connection/agent-connection.ts";
import { hasErrorCode } from "../connection/error-code.ts";
import {
  createSessionResumer,
  type AttachOptions,
  type ResumeOptions,
  type SessionResumer,
  type TrackedSession,
} from "./resume-session.ts";

/** The client's open sessions and its attachment in each, used to resume them on the next connection. */
export interface TrackedSessions {
  open(opened: Pick<OpenedSession, "sessionId" | "cursor">, place: SessionLocation): void;
  forget(sessionId: string): void;
  setAttachment(sessionId: string, attachment: Attachment): void;
  clearAttachment(sessionId: string): void;
  getAttachment(sessionId: string): Attachment | undefined;
  /** Applies the client list of a response. Another client may have taken control. */
  applyLiveClients(sessionId: string, clients: ClientStatus): void;
  /** Applies an update: its cursor, and its client list if present. */
  applyUpdate(received: ReceivedUpdate): void;
  /** Attaches at the session's cursor and resumes the session. */
  attachAtCursor<Value>(
    connection: Connection,
    agent: AgentProfile,
    how: AttachSession<Value>,
  ): Promise<Value>;
  /** Resumes all sessions on a new connection. */
  resumeAll(connection: Connection, agent: AgentProfile): Promise<void>;
}

interface AttachSession<Value> extends Pick<AttachOptions<Value>, "attach"> {
  readonly sessionId: string;
}

export function createTrackedSessions(options: ResumeOptions): TrackedSessions {
  return new SessionTable(options);
}

class SessionTable implements TrackedSessions {
  readonly #options: ResumeOptions;
  readonly #resumer: SessionResumer;
  readonly #sessions = new Map<string, TrackedSession>();

  constructor(options: ResumeOptions) {
    this.#options = options;
    this.#resumer = createSessionResumer(options);
  }

  open(
    { sessionId, cursor }: Pick<OpenedSession, "sessionId" | "cursor">,
    location: SessionLocation,
  ): void {
    const session = this.#getOrCreate(sessionId);
    session.location = location;
    session.isDetached = false;
    if (cursor !== undefined) session.cursor = cursor;
  }

  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  setAttachment(sessionId: string, attachment: Attachment): void {
    const session = this.#getOrCreate(sessionId);
    session.attachment = attachment;
    session.isDetached = false;
  }

  clearAttachment(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    session.attachment = undefined;
    // The cursor is kept, so a later attach continues from it.
    session.isDetached = true;
  }

  getAttachment(sessionId: string): Attachment | undefined {
    return this.#sessions.get(sessionId)?.attachment;
  }

  applyLiveClients(sessionId: string, { clients, controller }: ClientStatus): void {
    const session = this.#sessions.get(sessionId);
    if (session?.attachment === undefined) return;
    const { clientId, mode: previousMode } = session.attachment;
    const ownClient = clients.find((client) => client.clientId === clientId);
    if (ownClient === undefined || ownClient.role === previousMode) return;
    session.attachment = { ...session.attachment, mode: ownClient.role };
    this.#options.onControl(sessionId, { mode: ownClient.role, controller });
  }

  applyUpdate({ sessionId, update, cursor }: ReceivedUpdate): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined && cursor !== undefined) session.cursor = cursor;
    if (update.type !== "extension" || update.name !== "live_session_client") return;
    const clients = readLiveClients(update.fields["state"] ?? null);
    if (clients.ok) this.applyLiveClients(sessionId, clients.value);
  }

  attachAtCursor<Value>(
    connection: Connection,
    agent: AgentProfile,
    { sessionId, attach }: AttachSession<Value>,
  ): Promise<Value> {
    return this.#resumer.attachAtCursor(connection, agent, {
      session: this.#sessions.get(sessionId) ?? createTrackedSession(sessionId),
      attach,
      onMissed: (error) => {
        if (hasErrorCode(error, "not_found")) throw error;
        // The attach succeeded, so later updates arrive.
        this.#options.report("Some updates of the session may be missing", { sessionId, error });
      },
    });
  }

  async resumeAll(connection: Connection, agent: AgentProfile): Promise<void> {
    for (const [sessionId, session] of this.#sessions) {
      if (session.isDetached) continue;
      try {
        await this.#resumer.resume(connection, agent, session);
      } catch (error) {
        if (hasErrorCode(error, "connection_lost")) throw error;
        this.#options.report("A session could not be resumed", { sessionId, error });
        if (hasErrorCode(error, "not_found")) this.#sessions.delete(sessionId);
      }
    }
  }

  #getOrCreate(sessionId: string): TrackedSession {
    const session = this.#sessions.get(sessionId) ?? createTrackedSession(sessionId);
    this.#sessions.set(sessionId, session);
    return session;
  }
}

function createTrackedSession(sessionId: string): TrackedSession {
  return {
    sessionId,
    location: undefined,
    attachment: undefined,
    cursor: undefined,
    isDetached: false,
  };
}
