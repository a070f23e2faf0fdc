import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import type { Sender, Sessions } from "../../session/sessions.ts";

type Commanded = readonly [sessionId: string, command: SessionCommand, from: Sender];

interface LinkedClient {
  readonly link: object;
  readonly sessionId: string;
  readonly clientId: string;
  /** With its stay, where it has one: who has come back since by another way stays. */
  readonly from: Sender;
}

/** The clients that came over links, each by the last link that it came over. */
export class LinkedClients {
  readonly #clients = new Map<string, LinkedClient>();

  /** A command came over a link and got a reply. */
  replied(link: object, [sessionId, command, from]: Commanded, reply: CommandReply): void {
    if (reply.status === "refused") return;
    if (command.type !== "attach" && command.type !== "detach") return;
    const { clientId } = command;
    const key = JSON.stringify([sessionId, clientId]);
    if (command.type === "detach") return void this.#clients.delete(key);
    const { attachmentId } = command;
    // A command of its own: the id is not that of the attach.
    const sender = {
      principal: from.principal,
      clientId,
      ...(attachmentId !== undefined && { attachmentId }),
    };
    this.#clients.set(key, { link, sessionId, clientId, from: sender });
  }

  /** A link ended, and whoever came over it and has not come over another is gone. */
  async detach(link: object, sessions: Sessions): Promise<void> {
    for (const [key, client] of this.#clients) {
      if (client.link !== link) continue;
      this.#clients.delete(key);
      const { sessionId, clientId, from } = client;
      const { attachmentId } = from;
      const command = {
        type: "detach",
        clientId,
        reason: "client_exit",
        ...(attachmentId !== undefined && { attachmentId }),
      } as const;
      // The session may be gone as well.
      await sessions.command(sessionId, command, from).catch(() => undefined);
    }
  }
}
