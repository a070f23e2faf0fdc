import type { Envelope } from "../../domain/envelope.ts";
import { BRIDGE_RESTARTED } from "../../domain/live-client.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { randomText } from "../../platform/random.ts";
import type { ClientSender } from "../../session/sessions.ts";
import { checkPresent } from "./check-present.ts";
import { GIVEN_NAME, type ClientLink } from "./client-link.ts";

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
  readonly isOwnStay: (attachmentId: string) => boolean;
  /** Whether an event of the session, in its place, says that the client is gone: sent away, or back by another connection. */
  readonly isEndedBy: (envelope: Envelope) => boolean;
}

export type AttachCommand = Extract<SessionCommand, { readonly type: "attach" }>;

/** `renamed` is called when the client has come under another name, or once more under its own. */
export function clientAttachment(
  sessionId: string,
  link: ClientLink,
  renamed: () => Promise<void>,
): ClientAttachment {
  const { sessions, log } = link;
  let { sender } = link;
  let stay: Stay | undefined;
  let seen = 0;
  const stays = new Set<string>();

  /** For a stay, where there is one: another client may have the name by now. */
  function speaking(spokenFor: Stay | undefined): ClientSender {
    return spokenFor === undefined ? sender : { ...sender, attachmentId: spokenFor.attachmentId };
  }

  async function send(command: AttachCommand): Promise<CommandReply> {
    checkPresent(link);
    const before = stay;
    const { clientId } = command;
    const attachmentId = randomText(16);
    const own: Stay = { clientId, attachmentId, hasBegun: false };
    // The event may be read before the reply is here.
    stay = own;
    stays.add(attachmentId);
    const reply = await sessions.command(sessionId, { ...command, attachmentId }, speaking(before));
    if (reply.status === "refused") stay = before;
    else if (link.gone.aborted) await end(own, "client_exit");
    checkPresent(link);
    return reply;
  }

  async function attach(): Promise<CommandReply> {
    return stay === undefined ? attachImplicitly() : { status: "accepted" };
  }

  /** With the rights that an observer has while there is no controller, and a stock client also beside one. */
  async function attachImplicitly(): Promise<CommandReply> {
    const { clientId } = sender;
    const rights = { mayPrompt: true, mayApprove: true, isStock: !link.profile().usesBridge };
    const command = { type: "attach", clientId, name: link.name(), ...rights } as const;
    if (sender.principal.rights.includes("control")) {
      const reply = await send({ ...command, mode: "controller" });
      if (reply.status === "accepted") return reply;
    }
    return send({ ...command, mode: "observer" });
  }

  async function detach(reason: string): Promise<void> {
    if (stay !== undefined) await end(stay, reason);
  }

  /** It may be over already, or not have begun: then it is refused, and that is all. */
  async function end({ clientId, attachmentId }: Stay, reason: string): Promise<void> {
    const command = { type: "detach", clientId, reason, attachmentId } as const;
    stay = undefined;
    try {
      await sessions.command(sessionId, command, { ...sender, clientId, attachmentId });
    } catch (error) {
      log("a client could not be detached", { sessionId, error: String(error) });
    }
  }

  return {
    get sender() {
      return speaking(stay);
    },
    get isAttached() {
      return stay !== undefined;
    },
    attach,
    async attachAs(command) {
      const { clientId } = command;
      if (clientId === sender.clientId) return send(command);
      const wasAttached = stay !== undefined;
      // It does not stand in its own way.
      await detach("client_renamed");
      const reply = await send(command);
      if (reply.status === "accepted") sender = { ...sender, clientId };
      else if (wasAttached) await attach();
      if (stay !== undefined) await renamed();
      return reply;
    },
    async declareHost() {
      if (stay !== undefined && sender.clientId.startsWith(GIVEN_NAME)) await attachImplicitly();
    },
    detach,
    forget() {
      stay = undefined;
    },
    isOwnStay: (attachmentId) => stays.has(attachmentId),
    isEndedBy({ seq, event }) {
      if (seq <= seen) return false;
      seen = seq;
      if (event.type !== "client.attached" && event.type !== "client.detached") return false;
      if (stay === undefined) return false;
      // Whoever is still there has come again, or is about to.
      if (event.type === "client.detached" && event.reason === BRIDGE_RESTARTED) return false;
      if (event.type === "client.attached" && event.attachmentId === stay.attachmentId) {
        stay.hasBegun = true;
        return false;
      }
      return stay.hasBegun && event.clientId === sender.clientId;
    },
  };
}

interface Stay {
  readonly clientId: string;
  readonly attachmentId: string;
  /** Whether the log has been read up to its beginning. What it says of the client's name before that is about others. */
  hasBegun: boolean;
}
