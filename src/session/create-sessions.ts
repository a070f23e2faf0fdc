import { ID_ALPHABET, idsFrom, SEED_LENGTH } from "../domain/id.ts";
import { SpanlineError } from "../domain/errors.ts";
import { endGroup } from "../platform/process-group.ts";
import { randomSeed } from "../platform/random.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { Lease, SessionRecord, Store } from "../store/store.ts";
import type { Agent } from "./agent.ts";
import { startDriver, type Driver } from "./driver.ts";
import { loadState } from "./load-state.ts";
import { passivation } from "./passivation.ts";
import type { Sender, Sessions } from "./sessions.ts";
import { initialState, type SessionState } from "./state.ts";

export interface SessionsOptions {
  readonly store: Store;
  /** The first is the default. */
  readonly agents: readonly Agent[];
  readonly clock: SteadyClock;
  /** Names this process among those that could own a session. */
  readonly owner: string;
  readonly coalesceMs?: number;
  /** A session that nobody used for so long is let go from memory, and taken up again from its log. */
  readonly idleMs?: number;
  /** Something went wrong that no caller will hear of. */
  report?(error: unknown): void;
  /** A session cannot go on here; it is taken up again when somebody next asks for it. */
  failed?(sessionId: string, error: unknown): void;
}

export interface RunningSessions extends Sessions {
  /** Takes up what another process left behind: turns in the middle, and deadlines that have come. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

/** Sessions by id, each with its driver while it is used. */
export function createSessions(options: SessionsOptions): RunningSessions {
  const { store, clock, owner, agents, coalesceMs = 16, idleMs = DEFAULT_IDLE_MS } = options;
  const drivers = new Map<string, Promise<Driver>>();
  const idle = passivation({ clock, idleMs, drivers });
  const report = (error: unknown): void => options.report?.(error);

  const drive = (sessionId: string, start: () => Promise<Driver>): Promise<Driver> => {
    const known = drivers.get(sessionId);
    if (known !== undefined) return known;
    const started = start();
    drivers.set(sessionId, started);
    started.catch(() => drivers.delete(sessionId));
    return started;
  };

  const begin = (agent: Agent, state: SessionState, lease: Lease, workingDirectory?: string) =>
    startDriver(state, {
      store,
      lease,
      agent,
      clock,
      coalesceMs,
      leaseMs: LEASE_MS,
      ...(workingDirectory !== undefined && { workingDirectory }),
      failed(error) {
        drivers.delete(lease.sessionId);
        options.failed?.(lease.sessionId, error);
        report(error);
      },
      report,
    });

  async function takeUp(sessionId: string): Promise<Driver> {
    const record = await store.session(sessionId);
    if (record === undefined) throw unknownSession(sessionId);
    const agent = agentNamed(agents, record.agent);
    const { lease, head } = await store.acquire(sessionId, acquisition());
    const state = await loadState(store, sessionId, head);
    await endLeftovers(state);
    const driver = begin(agent, state, lease, record.workingDirectory ?? undefined);
    const { digest, facts } = agent;
    const bound = state.agent?.digest === digest ? {} : { agent: { digest, facts } };
    await driver.send({ type: "recovered", epoch: lease.epoch, ...bound });
    return driver;
  }

  // One process owns the directory that the store is in: a lease of another one is a dead one's.
  const acquisition = () => ({ owner, now: clock.now(), forMs: LEASE_MS, takeOver: true });

  return {
    agents: agents.map(({ facts }) => facts.name),

    async open({ agent: name, principal, title, workingDirectory, sessionId: given }) {
      const agent = agentNamed(agents, name);
      const sessionId = given ?? newSessionId(clock.now());
      const before = given === undefined ? undefined : await store.session(given);
      if (before !== undefined) return before;
      idle.used(sessionId);
      // Of two that open the same session at once, one does.
      await drive(sessionId, async () => {
        const { lease } = await store.acquire(sessionId, acquisition());
        const driver = begin(agent, initialState, lease, workingDirectory);
        await driver.send({
          type: "opened",
          agent: { digest: agent.digest, facts: agent.facts },
          principal: principal.id,
          ...(title !== undefined && { title }),
          ...(workingDirectory !== undefined && { workingDirectory }),
        });
        return driver;
      });
      return recordOf(store, sessionId);
    },

    async command(sessionId, command, from) {
      idle.used(sessionId);
      const driver = await drive(sessionId, () => takeUp(sessionId));
      const { principal, clientId, commandId } = from;
      const by = {
        kind: "user",
        principal: principal.id,
        ...(clientId !== undefined && { clientId }),
      } as const;
      const { rights } = principal;
      const named = commandId === undefined ? {} : { commandId };
      const commanded = { type: "commanded", command, by, rights, ...named } as const;
      const reply = await driver.send(commanded, commandKey(from));
      if (reply === undefined) throw new Error(`The command ${command.type} got no reply`);
      return reply;
    },

    subscribe: (sessionId, cursor, signal) => store.subscribe(sessionId, cursor, signal),
    find: (sessionId) => store.session(sessionId),
    list: (query) => store.sessions(query),

    async delete(sessionId) {
      const driver = drivers.get(sessionId);
      drivers.delete(sessionId);
      await (await driver)?.close();
      return store.deleteSession(sessionId);
    },

    async recover() {
      let page: string | undefined;
      do {
        const found = await store.sessions({ limit: 100, ...(page !== undefined && { page }) });
        const busy = found.sessions.filter(({ state }) => state !== "idle");
        for (const { sessionId } of busy) {
          // One that cannot be taken up keeps none of the others from it.
          await drive(sessionId, () => takeUp(sessionId)).catch(report);
        }
        page = found.nextPage;
      } while (page !== undefined);
    },

    async close() {
      idle.stop();
      const open = await Promise.allSettled(drivers.values());
      drivers.clear();
      const started = open.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      await Promise.all(started.map((driver) => driver.close()));
    },
  };
}

const LEASE_MS = 600_000;
const DEFAULT_IDLE_MS = 60_000;

function newSessionId(now: number): string {
  return idsFrom(now, randomSeed(ID_ALPHABET, SEED_LENGTH)).next("ses");
}

function agentNamed(agents: readonly Agent[], name: string | undefined): Agent {
  const agent = name === undefined ? agents[0] : agents.find(({ facts }) => facts.name === name);
  if (agent !== undefined) return agent;
  const known = agents.map(({ facts }) => facts.name).join(", ");
  throw new SpanlineError("not_found", `There is no agent "${name}" here; there is: ${known}`);
}

function unknownSession(sessionId: string): SpanlineError {
  return new SpanlineError("not_found", `There is no session ${sessionId}`);
}

async function recordOf(store: Store, sessionId: string): Promise<SessionRecord> {
  const record = await store.session(sessionId);
  if (record === undefined) throw unknownSession(sessionId);
  return record;
}

/** One sender's names for its commands are nobody else's. */
function commandKey({ principal, commandId }: Sender): string | undefined {
  return commandId === undefined ? undefined : `${principal.id}/${commandId}`;
}

/** Before anything is run again, what a dead process left running is ended. */
async function endLeftovers({ tools }: SessionState): Promise<void> {
  await Promise.all(tools.programs.map(({ group }) => endGroup(group)));
}
