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

/** As whom the client of a connection is attached to one session. */
export interface ClientAttachment {
  readonly sender: ClientSender;
  readonly isAttached: boolean;
  /** Implicitly, as the connection's own client: as the controller, or as an observer if there is one. */
  readonly attach: () => Promise<CommandReply>;
  /** Under a name of its own from now on. */
  readonly attachAs: (command: AttachCommand) => Promise<CommandReply>;
  /** The client turned out to use the bridge protocol: an implicit attachment is not a stock client's any more. */
  readonly declareHost: () => Promise<void>;
  detach(reason: string): Promise<void>;
  /** It was detached by others, or by name. */
  forget(): void;
  /** Whether the client attached by that id, under whatever name. */
  readonly isOwnAttachment: (attachmentId: string) => boolean;
  /** Whether an event of the session, in its place, says that the client is gone: sent away, or back by another connection. */
  readonly isEndedBy: (envelope: Envelope) => boolean;
}

export type AttachCommand = Extract<SessionCommand, { readonly type: "attach" }>;

/** `renamed` is called when the client has come under another name, or once more under its own. */
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

  /** For a stay, where there is one: another client may have the name by now. */
  function createSender(attachment: AttachmentRecord | undefined): ClientSender {
    return attachment === undefined ? sender : { ...sender, attachmentId: attachment.attachmentId };
  }

  async function send(command: AttachCommand): Promise<CommandReply> {
    checkConnected(link);
    const previous = current;
    const { clientId } = command;
    const attachmentId = randomString(16);
    const own: AttachmentRecord = { clientId, attachmentId, isConfirmed: false };
    // The event may be read before the reply is here.
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

  /** With the rights that an observer has while there is no controller, and a stock client also beside one. */
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

  /** It may be over already, or not have begun: then it is refused, and that is all. */
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
      // It does not stand in its own way.
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
      // Whoever is still there has come again, or is about to.
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
  /** Whether the log has been read up to its beginning. What it says of the client's name before that is about others. */
  isConfirmed: boolean;
}
