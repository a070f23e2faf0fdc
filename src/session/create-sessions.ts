import { SpanlineError } from "../domain/errors.ts";
import { isEmptyEquipment, type EquipReply, type Equipment } from "../domain/equipment.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { Store } from "../store/store.ts";
import type { Agent } from "./agent.ts";
import { agentReady } from "./agent-ready.ts";
import { openDriver, takeUpDriver, type OpenedDriver } from "./begin-driver.ts";
import type { OpenEquipment } from "./client-equipment.ts";
import { modeOf } from "./clients/clients-state.ts";
import type { Driver } from "./driver.ts";
import { driverPool } from "./driver-pool.ts";
import type { MemoryLimits } from "./idle-eviction.ts";
import { isPassing } from "./log-stall.ts";
import { newSeed, type Seed } from "./new-id.ts";
import { outlookOf } from "./outlook.ts";
import type { Verify } from "./receipt-doubts.ts";
import type { ReceiptHeads } from "./receipt-heads.ts";
import { refused } from "./refused.ts";
import { otherFolders } from "./session-folders.ts";
import { sendCommand } from "./send-command.ts";
import { agentNamed, factsOf, sessionOpening, type WithDriver } from "./session-opening.ts";
import { sessionHistory } from "./session-history.ts";
import { sessionReaders } from "./session-readers.ts";
import type { ClientSender, Sessions } from "./sessions.ts";
import type { Sign } from "./sign-receipts.ts";
import { takeUpLeft } from "./take-up-left.ts";
import { toolRules } from "./tools/tool-rules.ts";

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
  /** Where the last receipt of each log is recorded; without it, a log whose end was cut off is not noticed. */
  readonly heads?: ReceiptHeads;
  /** A session that was not used for so long leaves memory; its next command loads it from its log. Default: 1 minute. */
  readonly idleMs?: number;
  /** Beyond these, the least recently used sessions leave memory earlier. Default: 1,000 sessions, 64 MB. */
  readonly memory?: Partial<MemoryLimits>;
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
  const { sign, verify, heads, signal } = options;
  const signing = {
    ...(sign !== undefined && { sign }),
    ...(verify !== undefined && { verify }),
    ...(heads !== undefined && { heads }),
  };
  const { openEquipment } = options;
  const equipping = openEquipment === undefined ? {} : { openEquipment };
  const around = { store, clock, owner, coalesceMs, seed, report, ...signing, ...equipping };
  const drivers = driverPool({
    clock,
    idleMs,
    limits: { ...DEFAULT_LIMITS, ...options.memory },
    report,
    ...(signal !== undefined && { signal }),
    retake: async (sessionId) => {
      const record = await store.session(sessionId);
      if (record === undefined || record.state === "idle" || isClosed) return;
      await load(sessionId);
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

  const withDriver: WithDriver = (sessionId, work) =>
    drivers.use(sessionId, {
      start: async (parts) => {
        await drivers.over(sessionId);
        const isHere = drivers.isLeft(sessionId);
        const named = (name: string): Agent => agentNamed(agents, name);
        return takeUpDriver({ sessionId, ...parts }, named, { ...around, isHere });
      },
      work,
    });
  const load = (sessionId: string): Promise<void> => withDriver(sessionId, () => undefined);

  const { open, begin } = sessionOpening({
    store,
    clock,
    agents,
    seed,
    readers,
    withDriver,
    openDriver: async (sessionId, what) => {
      let done: OpenedDriver | undefined;
      return drivers.use(sessionId, {
        start: async (parts) => {
          done = await openDriver({ sessionId, ...parts }, what, around);
          return done.driver;
        },
        work: () => done,
        isOneShot: what.first !== undefined,
      });
    },
  });

  const command: Sessions["command"] = (sessionId, wanted, from) =>
    withDriver(sessionId, async (driver) => {
      const checked =
        wanted.type === "extend"
          ? { ...wanted, folders: await otherFolders(agentIn(driver), wanted.folders) }
          : wanted;
      return sendCommand(checked, from, { sessionId, store, driver, readers });
    });

  const agentIn = (driver: Driver): Agent => agentNamed(agents, driver.state.agent?.facts.name);

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
    return withDriver(sessionId, async (driver): Promise<EquipReply> => {
      if (modeOf(driver.state.clients, clientId) === undefined) {
        return refused("not_found", "Only a client that is attached can bring something");
      }
      return { status: "accepted", problems: await driver.equip(clientId, equipment) };
    });
  }

  const recover = (): Promise<void> =>
    takeUpLeft({
      store,
      takeUp: async (sessionId) => {
        await load(sessionId).catch((error: unknown) => {
          if (isClosed) return;
          if (isPassing(error)) drivers.resumeLater(sessionId, error);
          else report(error);
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
    checkLog: () => whileOpen(() => store.probe()),
    peek: (sessionId) =>
      whileOpen(() => withDriver(sessionId, ({ state }) => outlookOf(state, sessionId))),
    history: (sessionId, through) => whileOpen(() => sessionHistory(store, sessionId, through)),
    rules: (sessionId) =>
      whileOpen(() =>
        withDriver(sessionId, (driver) => toolRules(factsOf(driver, sessionId), driver.state.mode)),
      ),
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
const DEFAULT_LIMITS: MemoryLimits = { sessions: 1000, bytes: 64_000_000 };

function closedHere(): SpanlineError {
  return new SpanlineError("aborted", "The sessions are closed here; nothing more is taken");
}
