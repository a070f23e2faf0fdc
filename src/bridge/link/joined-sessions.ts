import type { Equipment } from "../../domain/equipment.ts";
import type { SessionCommand } from "../../domain/session-command.ts";
import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../session/new-id.ts";
import type { Sender, Sessions } from "../../session/sessions.ts";
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
  const attached = new Map<string, Attached>();

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
    for (const { sessionId, command, from, equipment } of attached.values()) {
      // What it was refused it is refused again when it matters.
      await sessions.command(sessionId, command, from).catch(() => undefined);
      if (equipment === undefined) continue;
      // Nobody waits for what may take its time to start; its tools come when they are there.
      const sender = { ...from, clientId: command.clientId };
      sessions.equip(sessionId, equipment, sender).catch(() => undefined);
    }
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
      const reply = await withOwner((sessions) => sessions.command(sessionId, command, sender));
      if (reply.status === "refused") return reply;
      if (command.type === "attach") {
        // Attached to another owner it is another command.
        const { principal, clientId } = from;
        const again = { principal, ...(clientId !== undefined && { clientId }) };
        const key = `${sessionId}/${command.clientId}`;
        attached.set(key, { ...attached.get(key), sessionId, command, from: again });
      }
      if (command.type === "detach") attached.delete(`${sessionId}/${command.clientId}`);
      return reply;
    },
    async equip(sessionId, equipment, from) {
      const reply = await withOwner((sessions) => sessions.equip(sessionId, equipment, from));
      const client = attached.get(`${sessionId}/${from.clientId}`);
      if (reply.status === "accepted" && client !== undefined) client.equipment = equipment;
      return reply;
    },
    subscribe: (sessionId, cursor, signal) => ({
      [Symbol.asyncIterator]: () => lastingSubscription({ sessionId, cursor, signal, joined }),
    }),
    ready: (agent) => withOwner((sessions) => sessions.ready(agent)),
    peek: (sessionId) => withOwner((sessions) => sessions.peek(sessionId)),
    rules: (sessionId) => withOwner((sessions) => sessions.rules(sessionId)),
    find: (sessionId) => withOwner((sessions) => sessions.find(sessionId)),
    list: (query) => withOwner((sessions) => sessions.list(query)),
    delete: (sessionId) => withOwner((sessions) => sessions.delete(sessionId)),
  };
}

interface Attached {
  readonly sessionId: string;
  readonly command: Extract<SessionCommand, { readonly type: "attach" }>;
  readonly from: Sender;
  equipment?: Equipment;
}
