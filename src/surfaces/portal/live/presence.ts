import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { Principal } from "../../../domain/actor.ts";
import type { ClientRole } from "../../../domain/events/client-events.ts";
import type { CommandReply } from "../../../domain/session-command.ts";
import type { Clock } from "../../../platform/clock.ts";
import { randomString } from "../../../platform/random.ts";
import type { ClientSender, Sessions } from "../../../session/sessions.ts";
import type { LiveRequest } from "../../../wire/live/live-frames.ts";

export type AttachRequest = Extract<LiveRequest, { readonly type: "attach" }>;

/** The clients of all connections which are attached to sessions. */
export interface Presence {
  /** Attaches a client, or changes the role of `current`. Rejects if the command cannot be sent. */
  attach(
    request: AttachRequest,
    target: { readonly sessionId: string; readonly principal: Principal },
    current: Attachment | undefined,
  ): Promise<AttachOutcome>;
  detach(attachment: Attachment): Promise<void>;
  /** Called after the loss of the connection. The client is detached after a few seconds, unless it attaches again. */
  release(attachment: Attachment): void;
}

export type AttachOutcome =
  | { readonly status: "attached"; readonly attachment: Attachment; readonly role: ClientRole }
  | Extract<CommandReply, { readonly status: "refused" }>;

/** A client of a connection, attached to a session. */
export interface Attachment {
  readonly sessionId: string;
  readonly principal: Principal;
  readonly clientId: string;
  /** The name shown to others. */
  readonly name: string;
  /** Changes with every attach, so a late detach has no effect on a later attachment. */
  readonly attachmentId: string;
  readonly stopHeartbeat: () => void;
}

export interface PresenceOptions {
  readonly sessions: Pick<Sessions, "command">;
  readonly clock: Clock;
  /** Aborted when the process ends. The next owner of the sessions detaches the clients. */
  readonly closing: AbortSignal;
}

/** Milliseconds for which a client stays attached after its connection is lost: a reload or a reconnect takes less. */
const RELEASE_MS = 5000;
/** A heartbeat is an event of the log and changes the order of the session list: heartbeats are rare. */
const HEARTBEAT_MS = 600_000;

export function createPresence(options: PresenceOptions): Presence {
  return new ClientPresence(options);
}

class ClientPresence implements Presence {
  readonly #options: PresenceOptions;
  /** Attached clients by client id. */
  readonly #attached = new Map<string, Attachment>();
  /** Clients whose connection is lost, with the function that cancels their detach. */
  readonly #released = new Map<Attachment, () => void>();

  constructor(options: PresenceOptions) {
    this.#options = options;
    options.closing.addEventListener("abort", () => this.#forgetAll(), { once: true });
  }

  async attach(
    request: AttachRequest,
    { sessionId, principal }: { readonly sessionId: string; readonly principal: Principal },
    current: Attachment | undefined,
  ): Promise<AttachOutcome> {
    const previous = current ?? this.#findPrevious(request, sessionId, principal);
    if (previous !== undefined) this.#cancelDetach(previous);
    const clientId = previous?.clientId ?? `portal-${randomString(12)}`;
    const attachmentId = randomString(16);
    const { name, mode, takeOver } = request;
    const command = { type: "attach", clientId, name, mode, attachmentId } as const;
    const from = createSender(principal, clientId, previous);
    const reply = await this.#options.sessions
      .command(sessionId, { ...command, ...omitUndefined({ takeOver }) }, from)
      .catch((error: unknown) => {
        this.#returnToReleased(previous, current);
        throw error;
      });
    if (reply.status === "refused") {
      this.#returnToReleased(previous, current);
      return reply;
    }
    previous?.stopHeartbeat();
    const attachment: Attachment = {
      sessionId,
      principal,
      clientId,
      name,
      attachmentId,
      stopHeartbeat: this.#startHeartbeat(sessionId, { principal, clientId, attachmentId }),
    };
    this.#attached.set(clientId, attachment);
    return { status: "attached", attachment, role: reply.clientStatus?.client?.role ?? mode };
  }

  async detach(attachment: Attachment): Promise<void> {
    this.#cancelDetach(attachment);
    attachment.stopHeartbeat();
    const { sessionId, principal, clientId, attachmentId } = attachment;
    if (this.#attached.get(clientId) === attachment) this.#attached.delete(clientId);
    if (this.#options.closing.aborted) return;
    const command = { type: "detach", clientId, reason: "client_exit", attachmentId } as const;
    // The session may have been deleted, or another client has detached this one.
    await this.#options.sessions
      .command(sessionId, command, { principal, clientId, attachmentId })
      .catch(() => undefined);
  }

  release(attachment: Attachment): void {
    // The client has attached over another connection since.
    if (this.#attached.get(attachment.clientId) !== attachment) return;
    attachment.stopHeartbeat();
    if (this.#options.closing.aborted) return;
    const { clock } = this.#options;
    this.#released.set(
      attachment,
      clock.schedule(RELEASE_MS, () => void this.detach(attachment)),
    );
  }

  /**
   * The attachment which a reconnecting client continues: by its client id, even if the loss of its connection was not
   * noticed yet, or else a released attachment with the same name.
   */
  #findPrevious(
    { clientId, name }: AttachRequest,
    sessionId: string,
    principal: Principal,
  ): Attachment | undefined {
    const isOwn = (other: Attachment): boolean =>
      other.sessionId === sessionId && other.principal.id === principal.id;
    const named = clientId === undefined ? undefined : this.#attached.get(clientId);
    if (named !== undefined && isOwn(named)) return named;
    return [...this.#released.keys()].find((other) => isOwn(other) && other.name === name);
  }

  #cancelDetach(attachment: Attachment): void {
    this.#released.get(attachment)?.();
    this.#released.delete(attachment);
  }

  /** After a refused attach, the client's earlier attachment still ends with its lost connection. */
  #returnToReleased(previous: Attachment | undefined, current: Attachment | undefined): void {
    if (previous !== undefined && previous !== current) this.release(previous);
  }

  #startHeartbeat(sessionId: string, from: ClientSender): () => void {
    const { clock, sessions } = this.#options;
    const { clientId } = from;
    let cancel = (): void => {};
    const schedule = (): void => {
      cancel = clock.schedule(HEARTBEAT_MS, () => {
        void sessions
          .command(sessionId, { type: "heartbeat", clientId }, from)
          .catch(() => undefined);
        schedule();
      });
    };
    schedule();
    return () => cancel();
  }

  #forgetAll(): void {
    for (const attachment of this.#attached.values()) attachment.stopHeartbeat();
    for (const cancel of this.#released.values()) cancel();
    this.#released.clear();
  }
}

function createSender(
  principal: Principal,
  clientId: string,
  previous: Attachment | undefined,
): ClientSender {
  return { principal, clientId, ...(previous && { attachmentId: previous.attachmentId }) };
}
