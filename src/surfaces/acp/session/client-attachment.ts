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
  readonly attach: () => Promise<CommandReply>;
  /** Attaches under the client id of the command, which stays the client's id from now on. */
  readonly attachAs: (command: AttachCommand) => Promise<CommandReply>;
  /**
   * The client turned out to use the bridge protocol: an implicit attachment is repeated without the rights of a stock
   * client.
   */
  readonly declareHost: () => Promise<void>;
  detach(reason: string): Promise<void>;
  /** Clears the attachment after another client, or a detach by name, has ended it. */
  forget(): void;
  /** Whether this connection created the attachment with this id, under any client id. */
  readonly isOwnAttachment: (attachmentId: string) => boolean;
  /**
   * Whether this event of the log ends the attachment: the client was detached, or attached again by another
   * connection.
   */
  readonly isEndedBy: (envelope: Envelope) => boolean;
}

export type AttachCommand = Extract<SessionCommand, { readonly type: "attach" }>;

/** `onRenamed` is called when the client was attached under another id, or again under its own id. */
export function createClientAttachment(
  sessionId: string,
  link: ClientLink,
  onRenamed: () => Promise<void>,
): ClientAttachment {
  const { sessions, log } = link;
  let { sender } = link;
  let current: AttachmentRecord | undefined;
  let lastSeq = 0;
  const attachmentIds = new Set<string>();

  /**
   * The sender includes the attachment id if there is one, because another client may use the same client id by now.
   */
  function createSender(attachment: AttachmentRecord | undefined): ClientSender {
    return attachment === undefined ? sender : { ...sender, attachmentId: attachment.attachmentId };
  }

  async function send(command: AttachCommand): Promise<CommandReply> {
    checkConnected(link);
    const previous = current;
    const { clientId } = command;
    const attachmentId = randomString(16);
    const own: AttachmentRecord = { clientId, attachmentId, isConfirmed: false };
    // Set before the command, because the event may be read before the reply arrives.
    current = own;
    attachmentIds.add(attachmentId);
    const reply = await sessions
      .command(sessionId, { ...command, attachmentId }, createSender(previous))
      .catch((error: unknown) => {
        // The attach is not in the log, so the next request attaches again.
        current = previous;
        throw error;
      });
    if (reply.status === "refused") current = previous;
    else if (link.disconnectSignal.aborted) await end(own, "client_exit");
    checkConnected(link);
    return reply;
  }

  async function attach(): Promise<CommandReply> {
    return current === undefined ? attachImplicitly() : { status: "accepted" };
  }

  /**
   * Attaches with the rights to prompt and to approve. An observer has these rights only while no controller is
   * attached; a stock client has them also next to a controller.
   */
  async function attachImplicitly(): Promise<CommandReply> {
    const { clientId } = sender;
    const rights = { mayPrompt: true, mayApprove: true, isStock: !link.getProfile().usesBridge };
    const command = { type: "attach", clientId, name: link.getName(), ...rights } as const;
    if (sender.principal.rights.includes("control")) {
      const reply = await send({ ...command, mode: "controller" });
      if (reply.status === "accepted") return reply;
    }
    return send({ ...command, mode: "observer" });
  }

  async function detach(reason: string): Promise<void> {
    if (current !== undefined) await end(current, reason);
  }

  /**
   * The attachment may have ended or never started. The session then refuses the command, and the refusal is ignored.
   */
  async function end({ clientId, attachmentId }: AttachmentRecord, reason: string): Promise<void> {
    const command = { type: "detach", clientId, reason, attachmentId } as const;
    current = undefined;
    try {
      await sessions.command(sessionId, command, { ...sender, clientId, attachmentId });
    } catch (error) {
      log("a client could not be detached", { sessionId, error: String(error) });
    }
  }

  return {
    get sender() {
      return createSender(current);
    },
    get isAttached() {
      return current !== undefined;
    },
    attach,
    async attachAs(command) {
      const { clientId } = command;
      if (clientId === sender.clientId) return send(command);
      const wasAttached = current !== undefined;
      // Detaches the old id first, so the client is not its own competing controller.
      await detach("client_renamed");
      const reply = await send(command);
      if (reply.status === "accepted") sender = { ...sender, clientId };
      else if (wasAttached) await attach();
      if (current !== undefined) await onRenamed();
      return reply;
    },
    async declareHost() {
      if (current !== undefined && sender.clientId.startsWith(GENERATED_NAME_PREFIX))
        await attachImplicitly();
    },
    detach,
    forget() {
      current = undefined;
    },
    isOwnAttachment: (attachmentId) => attachmentIds.has(attachmentId),
    isEndedBy({ seq, event }) {
      if (seq <= lastSeq) return false;
      lastSeq = seq;
      if (event.type !== "client.attached" && event.type !== "client.detached") return false;
      if (current === undefined) return false;
      // After a restart of the bridge, every client still connected attaches again.
      if (event.type === "client.detached" && event.reason === BRIDGE_RESTARTED) return false;
      if (event.type === "client.attached" && event.attachmentId === current.attachmentId) {
        current.isConfirmed = true;
        return false;
      }
      return current.isConfirmed && event.clientId === sender.clientId;
    },
  };
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
