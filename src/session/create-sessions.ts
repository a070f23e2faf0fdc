import { SpanlineError } from "../domain/errors.ts";
import { endGroup } from "../platform/process-group.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import type { SessionRecord, Store } from "../store/store.ts";
import type { Agent } from "./agent.ts";
import { startDriver, type Driver, type DriverOptions } from "./driver.ts";
import type { Happening } from "./input.ts";
import { loadState } from "./load-state.ts";
import { newId } from "./new-id.ts";
import { passivation } from "./passivation.ts";
import { retakes } from "./retakes.ts";
import type { OpenSession, Sender, Sessions } from "./sessions.ts";
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
  /** A session cannot go on here, and was tried again in vain; the next try is when somebody asks for it. */
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
  /** Failed in this process, so that their clients are still there. */
  const left = new Set<string>();
  const again = retakes({
    clock,
    report,
    retake: async (sessionId) => {
      const record = await store.session(sessionId);
      if (record === undefined || record.state === "idle" || isClosed) return;
      await driverOf(sessionId);
    },
    gaveUp: (sessionId, error) => options.failed?.(sessionId, error),
  });
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;

  const whileOpen = <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (isClosed) return Promise.reject(closedHere());
    const done = work().finally(() => underWay.delete(done));
    underWay.add(done);
    return done;
  };

  type Failed = DriverOptions["failed"];
  const drive = (sessionId: string, start: (failed: Failed) => Promise<Driver>) => {
    idle.used(sessionId);
    const known = drivers.get(sessionId);
    if (known !== undefined) return known;
    const forget = (): void => {
      // Another one may have been started for it since.
      if (drivers.get(sessionId) === started) drivers.delete(sessionId);
    };
    const started = start((error, over) => {
      forget();
      if (!isTaken(error)) left.add(sessionId);
      again.failed(sessionId, error, over);
    });
    drivers.set(sessionId, started);
    started.catch(() => {
      forget();
      idle.forget(sessionId);
    });
    return started;
  };

  /** A driver whose first input is in the log. One that cannot take it leaves nothing behind. */
  async function begin(first: Happening, from: SessionState, parts: DriverParts): Promise<Driver> {
    const driver = startDriver(from, {
      store,
      clock,
      coalesceMs,
      leaseMs: LEASE_MS,
      report,
      ...parts,
    });
    try {
      await driver.send(first);
      return driver;
    } catch (error) {
      await driver.close();
      throw error;
    }
  }

  const driverOf = (sessionId: string): Promise<Driver> =>
    drive(sessionId, (failed) => takeUp(sessionId, failed));

  async function takeUp(sessionId: string, failed: Failed): Promise<Driver> {
    const record = await store.session(sessionId);
    if (record === undefined) throw unknownSession(sessionId);
    const agent = agentNamed(agents, record.agent);
    await again.over(sessionId);
    const { lease, head } = await store.acquire(sessionId, acquisition());
    const state = await loadState(store, sessionId, head).catch(async (error: unknown) => {
      await store.release(lease).catch(() => undefined);
      throw error;
    });
    await endLeftovers(state);
    const { digest, facts } = agent;
    const bound = state.agent?.digest === digest ? {} : { agent: { digest, facts } };
    const isHere = left.has(sessionId);
    const recovered = { type: "recovered", epoch: lease.epoch, isHere, ...bound } as const;
    const driver = await begin(recovered, state, {
      lease,
      agent,
      failed,
      ...(record.workingDirectory !== null && { workingDirectory: record.workingDirectory }),
    });
    left.delete(sessionId);
    return driver;
  }

  // One process owns the directory that the store is in: a lease of another one is a dead one's.
  const acquisition = () => ({ owner, now: clock.now(), forMs: LEASE_MS, takeOver: true });

  async function open(wanted: OpenSession): Promise<SessionRecord> {
    const { agent: name, principal, title, workingDirectory, sessionId: given } = wanted;
    const agent = agentNamed(agents, name);
    const sessionId = given ?? newId("ses", clock.now());
    const before = given === undefined ? undefined : await store.session(given);
    if (before !== undefined) return before;
    const opened = {
      type: "opened",
      agent: { digest: agent.digest, facts: agent.facts },
      principal: principal.id,
      ...(title !== undefined && { title }),
      ...(workingDirectory !== undefined && { workingDirectory }),
    } as const;
    // Of two that open the same session at once, one does.
    await drive(sessionId, async (failed) => {
      const { lease } = await store.acquire(sessionId, acquisition());
      const place = workingDirectory === undefined ? {} : { workingDirectory };
      return begin(opened, initialState, { lease, agent, failed, ...place });
    });
    return recordOf(store, sessionId);
  }

  async function command(
    sessionId: string,
    wanted: SessionCommand,
    from: Sender,
  ): Promise<CommandReply> {
    const driver = await driverOf(sessionId);
    const { principal, clientId, commandId } = from;
    const by = {
      kind: "user",
      principal: principal.id,
      ...(clientId !== undefined && { clientId }),
    } as const;
    const { rights } = principal;
    const named = commandId === undefined ? {} : { commandId };
    const commanded = { type: "commanded", command: wanted, by, rights, ...named } as const;
    const reply = await driver.send(commanded, commandKey(from));
    if (reply === undefined) throw new Error(`The command ${wanted.type} got no reply`);
    return reply;
  }

  async function recover(): Promise<void> {
    let page: string | undefined;
    do {
      const found = await store.sessions({ limit: 100, ...(page !== undefined && { page }) });
      const busy = found.sessions.filter(({ state }) => state !== "idle");
      for (const { sessionId } of busy) {
        if (isClosed) return;
        // One that cannot be taken up keeps none of the others from it.
        await driverOf(sessionId).catch(report);
      }
      page = found.nextPage;
    } while (page !== undefined);
  }

  return {
    agents: agents.map(({ facts }) => facts.name),
    open: (wanted) => whileOpen(() => open(wanted)),
    command: (sessionId, wanted, from) => whileOpen(() => command(sessionId, wanted, from)),
    subscribe: (sessionId, cursor, signal) => store.subscribe(sessionId, cursor, signal),
    find: (sessionId) => store.session(sessionId),
    list: (query) => store.sessions(query),

    delete: (sessionId) =>
      whileOpen(async () => {
        const driver = drivers.get(sessionId);
        drivers.delete(sessionId);
        idle.forget(sessionId);
        await (await driver?.catch(() => undefined))?.close();
        return store.deleteSession(sessionId);
      }),

    recover: () => whileOpen(recover),

    async close() {
      isClosed = true;
      idle.stop();
      again.stop();
      // What was begun before is in the log before its driver is gone.
      await Promise.allSettled(underWay);
      const open = await Promise.allSettled(drivers.values());
      drivers.clear();
      const started = open.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      await Promise.all(started.map((driver) => driver.close()));
    },
  };
}

type DriverParts = Pick<DriverOptions, "lease" | "agent" | "failed" | "workingDirectory">;

const LEASE_MS = 600_000;
const DEFAULT_IDLE_MS = 60_000;

function agentNamed(agents: readonly Agent[], name: string | undefined): Agent {
  const agent = name === undefined ? agents[0] : agents.find(({ facts }) => facts.name === name);
  if (agent !== undefined) return agent;
  const known = agents.map(({ facts }) => facts.name).join(", ");
  throw new SpanlineError("not_found", `There is no agent "${name}" here; there is: ${known}`);
}

/** By another process: its clients are not ours. */
function isTaken(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "stale_lease";
}

function closedHere(): SpanlineError {
  return new SpanlineError("aborted", "The sessions are closed here; nothing more is taken");
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
