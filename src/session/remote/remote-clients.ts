import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import type { Sender, Sessions } from "../sessions.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

type CommandParameters = readonly [sessionId: string, command: SessionCommand, from: Sender];

interface RemoteClient {
  readonly connection: object;
  readonly sessionId: string;
  readonly clientId: string;
  /**
   * Includes the attachment id, if there is one: a client which has attached again over another connection stays
   * attached.
   */
  readonly sender: Sender;
}

/** Clients attached over connections to joined processes, each with its latest connection. */
export class RemoteClients {
  readonly #clients = new Map<string, RemoteClient>();

  /** Records an accepted attach or detach received over a connection. */
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
    // Without a command id: the later detach is a new command, not a repetition of the attach.
    const sender = {
      principal: from.principal,
      clientId,
      ...omitUndefined({ attachmentId }),
    };
    this.#clients.set(key, { connection, sessionId, clientId, sender });
  }

  /** Detaches the clients of a closed connection, except clients which have attached over another connection. */
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
      // The session may have been deleted.
      await sessions.command(sessionId, command, from).catch(() => undefined);
    }
  }
}
