import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../session/new-id.ts";
import type { Sessions } from "../../session/sessions.ts";
import { AttachedClients, type AttachedClient } from "./attached-clients.ts";
import type { Joined } from "./joined.ts";
import { lastingSubscription } from "./lasting-subscription.ts";
import { OwnerGoneError } from "./owner-gone-error.ts";

export interface JoinedOptions {
  readonly clock: Clock;
  /** Finds the owner, or becomes it. Resolves when there are sessions to use; rejects when there will be none. */
  readonly join: () => Promise<Joined>;
}

/**
 * Sessions that outlive their owner: a command that was under way is sent to the next one under the same id, and has its
 * effect once; a subscription goes on from where it was; clients are attached again, with what they brought.
 */
export function joinedSessions({ clock, join }: JoinedOptions): Sessions {
  let current: Promise<Joined> | undefined;
  let agents: readonly string[] = [];
  const clients = new AttachedClients();

  const joined = async (): Promise<Joined> => {
    for (;;) {
      const before = current;
      const known = await before?.catch(() => undefined);
      if (known !== undefined && !known.gone.aborted) return known;
      // Whoever was waiting beside us may have joined already.
      if (current !== before) continue;
      current = joinNext(before !== undefined);
      return current;
    }
  };
  const joinNext = async (isAgain: boolean): Promise<Joined> => {
    const next = await join();
    agents = next.sessions.agents;
    if (isAgain) await attachAgain(next.sessions);
    return next;
  };
  const attachAgain = async (sessions: Sessions): Promise<void> => {
    for (const client of clients.all()) await attachTo(sessions, client);
  };
  /** Until an owner has lived long enough to answer. */
  const withOwner = async <Value>(use: (sessions: Sessions) => Promise<Value>): Promise<Value> => {
    for (;;) {
      const { sessions, gone } = await joined();
      try {
        return await use(sessions);
      } catch (error) {
        if (!(error instanceof OwnerGoneError) && !gone.aborted) throw error;
      }
    }
  };

  return {
    /** Known from the first join on. */
    get agents() {
      return agents;
    },
    open(given) {
      const options = { sessionId: newId("ses", clock.now()), ...given };
      return withOwner((sessions) => sessions.open(options));
    },
    begin(given, first) {
      const options = { sessionId: newId("ses", clock.now()), ...given };
      const from = { commandId: newId("cmd", clock.now()), ...first.from };
      return withOwner((sessions) => sessions.begin(options, { ...first, from }));
    },
    async command(sessionId, command, from) {
      const sender = { commandId: newId("cmd", clock.now()), ...from };
      // Attached to another owner it is another command.
      const { principal, clientId } = from;
      const again = { principal, ...(clientId !== undefined && { clientId }) };
      const attached =
        command.type === "attach" ? clients.attaching(sessionId, command, again) : () => {};
      const reply = await withOwner((sessions) =>
        sessions.command(sessionId, command, sender),
      ).catch((error: unknown) => {
        attached(false);
        throw error;
      });
      const isAccepted = reply.status === "accepted";
      attached(isAccepted);
      if (command.type === "detach" && isAccepted) clients.detached(sessionId, command.clientId);
      return reply;
    },
    async equip(sessionId, equipment, from) {
      const reply = await withOwner((sessions) => sessions.equip(sessionId, equipment, from));
      if (reply.status === "accepted") clients.equipped(sessionId, from.clientId, equipment);
      return reply;
    },
    subscribe: (sessionId, cursor, signal) => ({
      [Symbol.asyncIterator]: () =>
        lastingSubscription({
          sessionId,
          cursor,
          signal,
          joined,
          heard: (event) => clients.heard(sessionId, event),
        }),
    }),
    ready: (agent) => withOwner((sessions) => sessions.ready(agent)),
    checkLog: () => withOwner((sessions) => sessions.checkLog()),
    peek: (sessionId) => withOwner((sessions) => sessions.peek(sessionId)),
    history: (...given) => withOwner((sessions) => sessions.history(...given)),
    rules: (sessionId) => withOwner((sessions) => sessions.rules(sessionId)),
    find: (sessionId) => withOwner((sessions) => sessions.find(sessionId)),
    list: (query) => withOwner((sessions) => sessions.list(query)),
    delete: (sessionId) => withOwner((sessions) => sessions.delete(sessionId)),
  };
}

/** What a client is refused it is refused again when it matters. */
async function attachTo(sessions: Sessions, client: AttachedClient): Promise<void> {
  const { sessionId, command, from, equipment } = client;
  const attach = (wanted: AttachedClient["command"]) =>
    sessions.command(sessionId, wanted, from).catch(() => undefined);
  const reply = await attach(command);
  // Somebody else may control the session by now.
  if (reply?.status === "refused" && command.mode === "controller")
    await attach({ ...command, mode: "observer" });
  if (equipment === undefined) return;
  // Nobody waits for what may take its time to start; its tools come when they are there.
  const sender = { ...from, clientId: command.clientId };
  sessions.equip(sessionId, equipment, sender).catch(() => undefined);
}
