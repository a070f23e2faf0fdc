import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import type { Sender, Sessions } from "../sessions.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

type CommandParameters = readonly [sessionId: string, command: SessionCommand, from: Sender];

interface RemoteClient {
  readonly connection: object;
  readonly sessionId: string;
  readonly clientId: string;
  /** With its stay, where it has one: who has come back since by another way stays. */
  readonly sender: Sender;
}

/** The clients that came over links, each by the last link that it came over. */
export class RemoteClients {
  readonly #clients = new Map<string, RemoteClient>();

  /** A command came over a link and got a reply. */
  recordReply(
    connection: object,
    [sessionId, command, from]: CommandParameters,
    reply: CommandReply,
  ): void {
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
      ...omitUndefined({ attachmentId }),
    };
    this.#clients.set(key, { connection, sessionId, clientId, sender });
  }

  /** A link ended, and whoever came over it and has not come over another is gone. */
  async detachClients(connection: object, sessions: Sessions): Promise<void> {
    for (const [key, client] of this.#clients) {
      if (client.connection !== connection) continue;
      this.#clients.delete(key);
      const { sessionId, clientId, sender: from } = client;
      const { attachmentId } = from;
      const command = {
        type: "detach",
        clientId,
        reason: "client_exit",
        ...omitUndefined({ attachmentId }),
      } as const;
      // The session may be gone as well.
      await sessions.command(sessionId, command, from).catch(() => undefined);
    }
  }
}
