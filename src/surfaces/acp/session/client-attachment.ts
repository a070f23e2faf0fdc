import type { Envelope } from "../../../domain/events/envelope.ts";
import { BRIDGE_RESTARTED } from "../../../domain/live-client.ts";
import type { CommandReply, SessionCommand } from "../../../domain/session-command.ts";
import { randomString } from "../../../platform/random.ts";
import type { ClientSender } from "../../../session/sessions.ts";
import {
  checkConnected,
  GENERATED_NAME_PREFIX,
  type ClientLink,
} from "../connection/client-link.ts";

/** The attachment of a connection's client to a session. */
export interface ClientAttachment {
  readonly sender: ClientSender;
  readonly isAttached: boolean;
  /**
   * Attaches implicitly under the connection's client id: as the controller, or as an observer if another client
   * controls the session.
   */
  attach(): Promise<CommandReply>;
  /** Attaches under the client id of the command, which stays the client's id from now on. */
  attachAs(command: AttachCommand): Promise<CommandReply>;
  /**
   * The client turned out to use the bridge protocol: an implicit attachment is repeated without the rights of a stock
   * client.
   */
  declareHost(): Promise<void>;
  detach(reason: string): Promise<void>;
  /** Clears the attachment after another client, or a detach by name, has ended it. */
  forget(): void;
  /** Whether this connection created the attachment with this id, under any client id. */
  isOwnAttachment(attachmentId: string): boolean;
  /**
   * Whether this event of the log ends the attachment: the client was detached, or attached again by another
   * connection.
   */
  isEndedBy(envelope: Envelope): boolean;
}

export type AttachCommand = Extract<SessionCommand, { readonly type: "attach" }>;

/** `onRenamed` is called when the client was attached under another id, or again under its own id. */
export function createClientAttachment(
  sessionId: string,
  link: ClientLink,
  onRenamed: () => Promise<void>,
): ClientAttachment {
  return new ConnectionAttachment(sessionId, link, onRenamed);
}

class ConnectionAttachment implements ClientAttachment {
  readonly #sessionId: string;
  readonly #link: ClientLink;
  readonly #onRenamed: () => Promise<void>;
  /** The client under its current id, without the attachment id. */
  #client: ClientSender;
  #current: AttachmentRecord | undefined;
  #lastSeq = 0;
  readonly #attachmentIds = new Set<string>();

  constructor(sessionId: string, link: ClientLink, onRenamed: () => Promise<void>) {
    this.#sessionId = sessionId;
    this.#link = link;
    this.#onRenamed = onRenamed;
    this.#client = link.sender;
  }

  get sender(): ClientSender {
    return this.#createSender(this.#current);
  }

  get isAttached(): boolean {
    return this.#current !== undefined;
  }

  async attach(): Promise<CommandReply> {
    return this.#current === undefined ? this.#attachImplicitly() : { status: "accepted" };
  }

  async attachAs(command: AttachCommand): Promise<CommandReply> {
    const { clientId } = command;
    if (clientId === this.#client.clientId) return this.#send(command);
    const wasAttached = this.#current !== undefined;
    // Detaches the old id first, so the client is not its own competing controller.
    await this.detach("client_renamed");
    const reply = await this.#send(command);
    if (reply.status === "accepted") this.#client = { ...this.#client, clientId };
    else if (wasAttached) await this.attach();
    if (this.#current !== undefined) await this.#onRenamed();
    return reply;
  }

  async declareHost(): Promise<void> {
    if (this.#current !== undefined && this.#client.clientId.startsWith(GENERATED_NAME_PREFIX))
      await this.#attachImplicitly();
  }

  async detach(reason: string): Promise<void> {
    if (this.#current !== undefined) await this.#end(this.#current, reason);
  }

  forget(): void {
    this.#current = undefined;
  }

  isOwnAttachment(attachmentId: string): boolean {
    return this.#attachmentIds.has(attachmentId);
  }

  isEndedBy({ seq, event }: Envelope): boolean {
    if (seq <= this.#lastSeq) return false;
    this.#lastSeq = seq;
    if (event.type !== "client.attached" && event.type !== "client.detached") return false;
    const current = this.#current;
    if (current === undefined) return false;
    // After a restart of the bridge, every client still connected attaches again.
    if (event.type === "client.detached" && event.reason === BRIDGE_RESTARTED) return false;
    if (event.type === "client.attached" && event.attachmentId === current.attachmentId) {
      current.isConfirmed = true;
      return false;
    }
    return current.isConfirmed && event.clientId === this.#client.clientId;
  }

  /**
   * The sender includes the attachment id if there is one, because another client may use the same client id by now.
   */
  #createSender(attachment: AttachmentRecord | undefined): ClientSender {
    if (attachment === undefined) return this.#client;
    return { ...this.#client, attachmentId: attachment.attachmentId };
  }

  async #send(command: AttachCommand): Promise<CommandReply> {
    checkConnected(this.#link);
    const previous = this.#current;
    const { clientId } = command;
    const attachmentId = randomString(16);
    const own: AttachmentRecord = { clientId, attachmentId, isConfirmed: false };
    // Set before the command, because the event may be read before the reply arrives.
    this.#current = own;
    this.#attachmentIds.add(attachmentId);
    const reply = await this.#link.sessions
      .command(this.#sessionId, { ...command, attachmentId }, this.#createSender(previous))
      .catch((error: unknown) => {
        // The attach is not in the log, so the next request attaches again.
        this.#current = previous;
        throw error;
      });
    if (reply.status === "refused") this.#current = previous;
    else if (this.#link.disconnectSignal.aborted) await this.#end(own, "client_exit");
    checkConnected(this.#link);
    return reply;
  }

  /**
   * Attaches with the rights to prompt and to approve. An observer has these rights only while no controller is
   * attached; a stock client has them also next to a controller.
   */
  async #attachImplicitly(): Promise<CommandReply> {
    const { clientId, principal } = this.#client;
    const isStock = !this.#link.getProfile().usesBridge;
    const rights = { mayPrompt: true, mayApprove: true, isStock };
    const command = { type: "attach", clientId, name: this.#link.getName(), ...rights } as const;
    if (principal.rights.includes("control")) {
      const reply = await this.#send({ ...command, mode: "controller" });
      if (reply.status === "accepted") return reply;
    }
    return this.#send({ ...command, mode: "observer" });
  }

  /**
   * The attachment may have ended or never started. The session then refuses the command, and the refusal is ignored.
   */
  async #end({ clientId, attachmentId }: AttachmentRecord, reason: string): Promise<void> {
    const { sessions, log } = this.#link;
    const sessionId = this.#sessionId;
    const command = { type: "detach", clientId, reason, attachmentId } as const;
    this.#current = undefined;
    try {
      await sessions.command(sessionId, command, { ...this.#client, clientId, attachmentId });
    } catch (error) {
      log("a client could not be detached", { sessionId, error: String(error) });
    }
  }
}

interface AttachmentRecord {
  readonly clientId: string;
  readonly attachmentId: string;
  /**
   * Whether the log was read up to the attach event. Earlier events with the same client id belong to other
   * attachments.
   */
  isConfirmed: boolean;
}
