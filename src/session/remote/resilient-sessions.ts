import type { Clock } from "../../platform/clock.ts";
import { createId } from "../../domain/id.ts";
import { randomSeed } from "../../platform/random.ts";
import { deriveRequests, REPEATABLE_METHODS, sendRequest } from "../session-methods.ts";
import type { Sessions } from "../sessions.ts";
import { AttachmentRegistry, type Attachment } from "./attachment-registry.ts";
import { type OwnerConnection, OwnerGoneError } from "./owner-connection.ts";
import { createResilientSubscription } from "./resilient-subscription.ts";
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
  let current: Promise<OwnerConnection> | undefined;
  let agents: readonly string[] = [];
  const clients = new AttachmentRegistry();

  const resolveConnection = async (): Promise<OwnerConnection> => {
    for (;;) {
      const previous = current;
      const connection = await previous?.catch(() => undefined);
      if (connection !== undefined && !connection.closed.aborted) return connection;
      // A concurrent caller may have connected already.
      if (current !== previous) continue;
      current = connectNext(previous !== undefined);
      return current;
    }
  };
  const connectNext = async (isReconnect: boolean): Promise<OwnerConnection> => {
    const next = await connect();
    agents = next.sessions.agents;
    if (isReconnect) await reattachClients(next.sessions);
    return next;
  };
  const reattachClients = async (sessions: Sessions): Promise<void> => {
    for (const client of clients.listAccepted()) await attachClient(sessions, client);
  };
  /** Repeats a request until an owner stays connected long enough to reply. */
  const withOwner = async <Value>(use: (sessions: Sessions) => Promise<Value>): Promise<Value> => {
    for (;;) {
      const { sessions, closed } = await resolveConnection();
      try {
        return await use(sessions);
      } catch (error) {
        if (!(error instanceof OwnerGoneError) && !closed.aborted) throw error;
      }
    }
  };

  return {
    /** Empty before the first connection. */
    get agents() {
      return agents;
    },
    open(args) {
      const options = { sessionId: createId("ses", clock.now(), randomSeed()), ...args };
      return withOwner((sessions) => sessions.open(options));
    },
    openWithPrompt(args, first) {
      const options = { sessionId: createId("ses", clock.now(), randomSeed()), ...args };
      const from = { commandId: createId("cmd", clock.now(), randomSeed()), ...first.sender };
      return withOwner((sessions) => sessions.openWithPrompt(options, { ...first, sender: from }));
    },
    async command(sessionId, command, from) {
      const sender = { commandId: createId("cmd", clock.now(), randomSeed()), ...from };
      // Attaching to another owner is a new command, so the command id is not reused.
      const { principal, clientId } = from;
      const reattachSender = { principal, ...omitUndefined({ clientId }) };
      const finishAttach =
        command.type === "attach"
          ? clients.startAttach(sessionId, command, reattachSender)
          : () => {};
      const reply = await withOwner((sessions) =>
        sessions.command(sessionId, command, sender),
      ).catch((error: unknown) => {
        finishAttach(false);
        throw error;
      });
      const isAccepted = reply.status === "accepted";
      finishAttach(isAccepted);
      if (command.type === "detach" && isAccepted) clients.remove(sessionId, command.clientId);
      return reply;
    },
    async setClientTools(sessionId, equipment, from) {
      const reply = await withOwner((sessions) =>
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
          connect: resolveConnection,
          onEvent: (event) => clients.applyEvent(sessionId, event),
        }),
    }),
    ...deriveRequests(REPEATABLE_METHODS, (name, args) =>
      withOwner((sessions) => sendRequest(sessions, name, args)),
    ),
  };
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
