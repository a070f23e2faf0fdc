import { omitUndefined } from "../../data/omit-undefined.ts";
import { randomSeed } from "../../platform/random.ts";
import { createDriverPool, type DriverPool } from "./driver-pool.ts";
import type { ChildSessions } from "./effects/child-sessions.ts";
import { createBudgetLedger } from "./effects/budget-ledger.ts";
import type { MemoryLimits } from "./idle-eviction.ts";
import { isTransientStoreError } from "./log/write-retry.ts";
import {
  openDriver,
  resumeDriver,
  type DriverEnvironment,
  type OpenedDriver,
} from "./open-driver.ts";
import { hasOpenWork, resumeInterruptedSessions } from "./resume-interrupted-sessions.ts";
import { findAgent, type OpeningContext, type WithDriver } from "./session-opening.ts";
import type { SessionsOptions } from "./sessions-options.ts";

/** Starts and resumes the drivers of the sessions, which are kept in a pool. */
export interface SessionDrivers
  extends
    Pick<DriverPool, "findWriteError" | "remove" | "stopStarting" | "close">,
    Pick<OpeningContext, "withDriver" | "openDriver"> {
  /** Resumes every session interrupted in the middle of work. */
  resumeInterrupted(): Promise<void>;
}

interface DriversContext {
  /** Whether the process has closed its sessions, so none is resumed. */
  readonly isClosed: () => boolean;
  readonly children: ChildSessions;
}

export function createSessionDrivers(
  options: SessionsOptions,
  { isClosed, children }: DriversContext,
): SessionDrivers {
  const { store, agents } = options;
  const environment = createEnvironment(options, children);
  const pool = createDriverPool({
    ...createPoolSettings(options),
    resume: async (sessionId) => {
      const record = await store.findSession(sessionId);
      if (record === undefined || !hasOpenWork(record) || isClosed()) return;
      await load(sessionId);
    },
  });

  const withDriver: WithDriver = (sessionId, work) =>
    pool.use(sessionId, {
      start: async (parts) => {
        await pool.waitUntilEnded(sessionId);
        const isHere = pool.hasFailedHere(sessionId);
        const request = { sessionId, ...parts };
        return resumeDriver(request, (name) => findAgent(agents, name), { ...environment, isHere });
      },
      work,
    });
  const load = (sessionId: string): Promise<void> => withDriver(sessionId, () => undefined);
  const loadOrReport = (sessionId: string): Promise<void> =>
    load(sessionId).catch((error: unknown) => {
      if (isClosed()) return;
      if (isTransientStoreError(error)) pool.resumeLater(sessionId, error);
      else environment.report(error);
    });

  return {
    withDriver,
    async openDriver(sessionId, opening) {
      let done: OpenedDriver | undefined;
      return pool.use(sessionId, {
        start: async (parts) => {
          done = await openDriver({ sessionId, ...parts }, opening, environment);
          return done.driver;
        },
        work: () => done,
        isOneShot: opening.createFirstInput !== undefined,
      });
    },
    resumeInterrupted: () =>
      resumeInterruptedSessions({ store, resume: loadOrReport, isOver: isClosed }),
    findWriteError: () => pool.findWriteError(),
    remove: (sessionId) => pool.remove(sessionId),
    stopStarting: () => pool.stopStarting(),
    close: () => pool.close(),
  };
}

function createEnvironment(options: SessionsOptions, children: ChildSessions): DriverEnvironment {
  const { store, clock, owner, coalesceMs = 16, seed = randomSeed } = options;
  const { sign, verify, heads, openClientTools } = options;
  return {
    store,
    clock,
    owner,
    ledger: createBudgetLedger(store, clock),
    children,
    coalesceMs,
    seed,
    report: (error) => options.report?.(error),
    ...omitUndefined({ sign, verify, heads, openClientTools }),
  };
}

function createPoolSettings(options: SessionsOptions) {
  const { clock, idleMs = DEFAULT_IDLE_MS, memory, signal } = options;
  return {
    clock,
    idleMs,
    limits: { ...DEFAULT_LIMITS, ...memory },
    report: (error: unknown): void => options.report?.(error),
    onGiveUp: (sessionId: string, error: unknown): void =>
      options.onSessionFailed?.(sessionId, error),
    ...omitUndefined({ signal }),
  };
}

const DEFAULT_IDLE_MS = 60_000;
const DEFAULT_LIMITS: MemoryLimits = { sessions: 1000, bytes: 64_000_000 };
