import type { Clock } from "../../platform/clock.ts";
import { createId } from "../../domain/id.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { randomSeed } from "../../platform/random.ts";
import { deriveRequests, REPEATABLE_METHODS, sendRequest } from "../session-methods.ts";
import type { Sender, Sessions } from "../sessions.ts";
import { AttachmentRegistry, type Attachment } from "./attachment-registry.ts";
import { type OwnerConnection, OwnerGoneError } from "./owner-connection.ts";
import { createResilientStream, createResilientSubscription } from "./resilient-subscription.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ResilientSessionsOptions {
  readonly clock: Clock;
  /** Finds the owner, or becomes the owner. Rejects if no sessions will be available. */
  readonly connect: () => Promise<OwnerConnection>;
}

/**
 * Sessions which survive the loss of their owner. An open command is sent to the next owner with the same id, and takes
 * effect once; subscriptions resume at their cursor; clients are attached again with their tools.
 */
export function createResilientSessions({ clock, connect }: ResilientSessionsOptions): Sessions {
  const clients = new AttachmentRegistry();
  const link = new OwnerLink(connect, async (sessions) => {
    for (const client of clients.listAccepted()) await attachClient(sessions, client);
  });
  const createCommandId = (): string => createId("cmd", clock.now(), randomSeed());
  return {
    /** Empty before the first connection. */
    get agents() {
      return link.agents;
    },
    open(args) {
      const options = { sessionId: createId("ses", clock.now(), randomSeed()), ...args };
      return link.request((sessions) => sessions.open(options));
    },
    openWithPrompt(args, first) {
      const options = { sessionId: createId("ses", clock.now(), randomSeed()), ...args };
      const sender = { commandId: createCommandId(), ...first.sender };
      return link.request((sessions) => sessions.openWithPrompt(options, { ...first, sender }));
    },
    command(sessionId, command, from) {
      const sender = { commandId: createCommandId(), ...from };
      return trackAttachment(clients, { sessionId, command, from }, () =>
        link.request((sessions) => sessions.command(sessionId, command, sender)),
      );
    },
    async setClientTools(sessionId, equipment, from) {
      const reply = await link.request((sessions) =>
        sessions.setClientTools(sessionId, equipment, from),
      );
      if (reply.status === "accepted")
        clients.recordClientTools(sessionId, from.clientId, equipment);
      return reply;
    },
    subscribe: (sessionId, cursor, signal) => ({
      [Symbol.asyncIterator]: () =>
        createResilientSubscription({
          sessionId,
          cursor,
          signal,
          connect: () => link.connect(),
          onEvent: (event) => clients.applyEvent(sessionId, event),
        }),
    }),
    watchSessions: (signal) => ({
      [Symbol.asyncIterator]: () =>
        createResilientStream({
          signal,
          connect: () => link.connect(),
          open: (sessions) => sessions.watchSessions(signal),
        }),
    }),
    ...deriveRequests(REPEATABLE_METHODS, (name, args) =>
      link.request((sessions) => sendRequest(sessions, name, args)),
    ),
  };
}

/** The connection to the current owner. Reconnects on the next use after a loss. */
class OwnerLink {
  readonly #connect: ResilientSessionsOptions["connect"];
  readonly #onReconnect: (sessions: Sessions) => Promise<void>;
  #current: Promise<OwnerConnection> | undefined;
  #agents: readonly string[] = [];

  constructor(
    connect: ResilientSessionsOptions["connect"],
    onReconnect: (sessions: Sessions) => Promise<void>,
  ) {
    this.#connect = connect;
    this.#onReconnect = onReconnect;
  }

  /** Agents of the latest owner. */
  get agents(): readonly string[] {
    return this.#agents;
  }

  async connect(): Promise<OwnerConnection> {
    for (;;) {
      const previous = this.#current;
      const connection = await previous?.catch(() => undefined);
      if (connection !== undefined && !connection.closed.aborted) return connection;
      // A concurrent caller may have connected already.
      if (this.#current !== previous) continue;
      this.#current = this.#connectNext(previous !== undefined);
      return this.#current;
    }
  }

  /** Repeats a request until an owner stays connected long enough to reply. */
  async request<Value>(use: (sessions: Sessions) => Promise<Value>): Promise<Value> {
    for (;;) {
      const { sessions, closed } = await this.connect();
      try {
        return await use(sessions);
      } catch (error) {
        if (!(error instanceof OwnerGoneError) && !closed.aborted) throw error;
      }
    }
  }

  async #connectNext(isReconnect: boolean): Promise<OwnerConnection> {
    const next = await this.#connect();
    this.#agents = next.sessions.agents;
    if (isReconnect) await this.#onReconnect(next.sessions);
    return next;
  }
}

interface SentCommand {
  readonly sessionId: string;
  readonly command: SessionCommand;
  readonly from: Sender;
}

/** Sends a command and records if it attached or detached a client. */
async function trackAttachment(
  clients: AttachmentRegistry,
  { sessionId, command, from }: SentCommand,
  send: () => Promise<CommandReply>,
): Promise<CommandReply> {
  // Attaching to another owner is a new command, so the command id is not reused.
  const { principal, clientId } = from;
  const finishAttach =
    command.type === "attach"
      ? clients.startAttach(sessionId, command, { principal, ...omitUndefined({ clientId }) })
      : undefined;
  const reply = await send().catch((error: unknown) => {
    finishAttach?.(false);
    throw error;
  });
  const isAccepted = reply.status === "accepted";
  finishAttach?.(isAccepted);
  if (command.type === "detach" && isAccepted) clients.remove(sessionId, command.clientId);
  return reply;
}

/** Attaches a client to the next owner. Errors are ignored: the client's next command reports them. */
async function attachClient(sessions: Sessions, client: Attachment): Promise<void> {
  const { sessionId, command, sender: from, clientTools } = client;
  const attach = (request: Attachment["command"]) =>
    sessions.command(sessionId, request, from).catch(() => undefined);
  const reply = await attach(command);
  // Another client may be the controller by now.
  if (reply?.status === "refused" && command.mode === "controller")
    await attach({ ...command, mode: "observer" });
  if (clientTools === undefined) return;
  // Not awaited, because starting MCP servers takes time; the tools are added when ready.
  const sender = { ...from, clientId: command.clientId };
  sessions.setClientTools(sessionId, clientTools, sender).catch(() => undefined);
}
