import type { AgentFacts } from "../domain/agent-event.ts";
import { SpanlineError } from "../domain/errors.ts";
import { isEmptyEquipment, type EquipReply, type Equipment } from "../domain/equipment.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import type { SessionRecord, Store } from "../store/store.ts";
import type { Agent } from "./agent.ts";
import { agentReady } from "./agent-ready.ts";
import {
  openDriver,
  takeUpDriver,
  unknownSession,
  type OpenedDriver,
  type Opening,
} from "./begin-driver.ts";
import type { OpenEquipment } from "./client-equipment.ts";
import { modeOf } from "./clients/clients-state.ts";
import { checkOpening, upstreamIdFor } from "./check-opening.ts";
import type { Driver } from "./driver.ts";
import { driverPool } from "./driver-pool.ts";
import { firstInput } from "./first-input.ts";
import { newId, newSeed, type Seed } from "./new-id.ts";
import { outlookOf } from "./outlook.ts";
import type { Verify } from "./receipt-doubts.ts";
import { refused } from "./refused.ts";
import { saidIn } from "./said-in.ts";
import { sendCommand } from "./send-command.ts";
import { sessionReaders } from "./session-readers.ts";
import type { Sign } from "./sign-receipts.ts";
import type {
  Begun,
  ClientSender,
  FirstPrompt,
  OpenSession,
  Sender,
  Sessions,
} from "./sessions.ts";
import { takeUpLeft } from "./take-up-left.ts";

export interface SessionsOptions {
  readonly store: Store;
  /** The first is the default. */
  readonly agents: readonly Agent[];
  readonly clock: SteadyClock;
  /** Names this process among those that could own a session. */
  readonly owner: string;
  readonly coalesceMs?: number;
  /**
   * In place of chance, for those who compare answers byte for byte: each text is of 13 letters and digits, and another. Of
   * 23 it stands for the time in ids, too.
   */
  readonly seed?: Seed;
  /** Signs the receipts of what was let run; without it they are not signed. */
  readonly sign?: Sign;
  /** Checks such signatures: what people allowed counts only where theirs is on it. Without it the log is believed. */
  readonly verify?: Verify;
  /** A session that nobody used for so long is let go from memory, and taken up again from its log. */
  readonly idleMs?: number;
  /** Aborted when the process is to end: sessions that are being opened or taken up are given up. */
  readonly signal?: AbortSignal;
  /** Opens what clients bring; nobody can bring anything without it. */
  readonly openEquipment?: OpenEquipment;
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
  const { seed = newSeed } = options;
  const report = (error: unknown): void => options.report?.(error);
  const { sign, verify, signal } = options;
  const signing = {
    ...(sign !== undefined && { sign }),
    ...(verify !== undefined && { verify }),
  };
  const { openEquipment } = options;
  const equipping = openEquipment === undefined ? {} : { openEquipment };
  const around = { store, clock, owner, coalesceMs, seed, report, ...signing, ...equipping };
  const drivers = driverPool({
    clock,
    idleMs,
    report,
    ...(signal !== undefined && { signal }),
    retake: async (sessionId) => {
      const record = await store.session(sessionId);
      if (record === undefined || record.state === "idle" || isClosed) return;
      await driverOf(sessionId);
    },
    gaveUp: (sessionId, error) => options.failed?.(sessionId, error),
  });
  const readers = sessionReaders();
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;

  const whileOpen = <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (isClosed) return Promise.reject(closedHere());
    const done = work().finally(() => underWay.delete(done));
    underWay.add(done);
    return done;
  };

  const driverOf = (sessionId: string): Promise<Driver> =>
    drivers.use(sessionId, async (failed, signal) => {
      await drivers.over(sessionId);
      const isHere = drivers.isLeft(sessionId);
      const named = (name: string): Agent => agentNamed(agents, name);
      return takeUpDriver({ sessionId, failed, signal }, named, { ...around, isHere });
    });

  const idOf = ({ sessionId }: OpenSession): string =>
    sessionId ?? newId("ses", clock.now(), seed());
  const known = async ({ sessionId }: OpenSession): Promise<SessionRecord | undefined> =>
    sessionId === undefined ? undefined : store.session(sessionId);

  /** Undefined where somebody else was opening it. */
  async function openNew(
    sessionId: string,
    given: OpenSession,
    first?: Opening["first"],
  ): Promise<OpenedDriver | undefined> {
    const agent = agentNamed(agents, given.agent);
    const wanted = await withCopy(store, given);
    const workingDirectory = await folderOf(agent, wanted);
    const opened = opening(sessionId, { ...wanted, ...workingDirectory });
    const what = { agent, opened, ...(first !== undefined && { first }) };
    let done: OpenedDriver | undefined;
    await drivers.use(sessionId, async (failed, signal) => {
      done = await openDriver({ sessionId, failed, signal }, what, around);
      return done.driver;
    });
    return done;
  }

  async function open(wanted: OpenSession): Promise<SessionRecord> {
    checkOpening(wanted);
    agentNamed(agents, wanted.agent);
    const before = await known(wanted);
    if (before !== undefined) return before;
    const sessionId = idOf(wanted);
    await openNew(sessionId, wanted);
    return recordOf(store, sessionId);
  }

  async function begin(wanted: OpenSession, first: FirstPrompt): Promise<Begun> {
    checkOpening(wanted);
    const agent = agentNamed(agents, wanted.agent);
    const before = await known(wanted);
    const sessionId = idOf(wanted);
    const principal = wanted.principal.id;
    if (before === undefined) {
      const opened = await openNew(sessionId, wanted, (facts) => firstInput(first, facts));
      const { incarnation, reply } = opened ?? {};
      if (incarnation !== undefined && reply !== undefined)
        return { sessionId, incarnation, agent: agent.facts.name, principal, seq: 0, reply };
    }
    const record = before ?? (await recordOf(store, sessionId));
    if (record.principal !== principal || record.label !== (wanted.label ?? null)) return record;
    const driver = await driverOf(sessionId);
    const prompt = first.prompt(factsOf(driver, sessionId));
    const reply = await sendCommand(prompt, first.from, { sessionId, store, driver, readers });
    return { ...record, reply };
  }

  async function command(
    sessionId: string,
    wanted: SessionCommand,
    from: Sender,
  ): Promise<CommandReply> {
    const driver = await driverOf(sessionId);
    return sendCommand(wanted, from, { sessionId, store, driver, readers });
  }

  async function equip(
    sessionId: string,
    equipment: Equipment,
    { principal, clientId }: ClientSender,
  ): Promise<EquipReply> {
    if (!isEmptyEquipment(equipment) && !principal.rights.includes("control")) {
      return refused("access_denied", "To bring MCP servers or tools needs the right to control");
    }
    if (openEquipment === undefined) {
      return refused("invalid_option", "Nothing can be brought to the sessions of this program");
    }
    const driver = await driverOf(sessionId);
    if (modeOf(driver.state.clients, clientId) === undefined) {
      return refused("not_found", "Only a client that is attached can bring something");
    }
    return { status: "accepted", problems: await driver.equip(clientId, equipment) };
  }

  const recover = (): Promise<void> =>
    takeUpLeft({
      store,
      takeUp: async (sessionId) => {
        await driverOf(sessionId).catch((error: unknown) => {
          if (!isClosed) report(error);
        });
      },
      isOver: () => isClosed,
    });

  return {
    agents: agents.map(({ facts }) => facts.name),
    open: (wanted) => whileOpen(() => open(wanted)),
    begin: (wanted, first) => whileOpen(() => begin(wanted, first)),
    command: (sessionId, wanted, from) => whileOpen(() => command(sessionId, wanted, from)),
    equip: (sessionId, equipment, from) => whileOpen(() => equip(sessionId, equipment, from)),
    subscribe: (sessionId, cursor, signal) =>
      readers.following(sessionId, signal, store.subscribe(sessionId, cursor, signal)),
    ready: (agent) => whileOpen(async () => agentReady(agentNamed(agents, agent), clock)),
    peek: (sessionId) =>
      whileOpen(async () => outlookOf((await driverOf(sessionId)).state, sessionId)),
    find: (sessionId) => store.session(sessionId),
    list: (query) => store.sessions(query),

    delete: (sessionId) =>
      whileOpen(async () => {
        await drivers.remove(sessionId);
        return store.deleteSession(sessionId);
      }),

    recover: () => whileOpen(recover),

    async close() {
      isClosed = true;
      drivers.rest();
      // What was begun before is in the log before its driver is gone.
      await Promise.allSettled(underWay);
      await drivers.close();
    },
  };
}

const DEFAULT_IDLE_MS = 60_000;

/** What was said in the session that it is a copy of is its history. */
async function withCopy(store: Store, given: OpenSession): Promise<OpenSession> {
  if (given.copyOf === undefined) return given;
  const wanted = { ...given, history: await saidIn(store, given.copyOf) };
  checkOpening(wanted);
  return wanted;
}

async function folderOf(
  { folderFor }: Agent,
  { workingDirectory: named }: OpenSession,
): Promise<Pick<OpenSession, "workingDirectory">> {
  return folderFor === undefined ? {} : { workingDirectory: await folderFor(named) };
}

function opening(sessionId: string, wanted: OpenSession) {
  const { principal, title, workingDirectory, label, history } = wanted;
  const upstreamId = upstreamIdFor(sessionId, wanted);
  return {
    type: "opened",
    principal: principal.id,
    ...(title !== undefined && { title }),
    ...(workingDirectory !== undefined && { workingDirectory }),
    ...(label !== undefined && { label }),
    ...(upstreamId !== undefined && { upstreamId }),
    ...(history !== undefined && { history }),
  } as const;
}

function factsOf({ state }: Driver, sessionId: string): AgentFacts {
  if (state.agent === null) throw unknownSession(sessionId);
  return state.agent.facts;
}

function agentNamed(agents: readonly Agent[], name: string | undefined): Agent {
  const agent = name === undefined ? agents[0] : agents.find(({ facts }) => facts.name === name);
  if (agent !== undefined) return agent;
  const known = agents.map(({ facts }) => facts.name).join(", ");
  throw new SpanlineError("not_found", `There is no agent "${name}" here; there is: ${known}`);
}

function closedHere(): SpanlineError {
  return new SpanlineError("aborted", "The sessions are closed here; nothing more is taken");
}

async function recordOf(store: Store, sessionId: string): Promise<SessionRecord> {
  const record = await store.session(sessionId);
  if (record === undefined) throw unknownSession(sessionId);
  return record;
}
