import { SpanlineError } from "../../domain/errors.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Driver, DriverOptions } from "./driver.ts";
import { idleEviction, type MemoryLimits } from "./idle-eviction.ts";
import { createDriverRetry } from "./driver-retry.ts";

export interface PoolOptions {
  readonly clock: SteadyClock;
  /** A driver that nobody used for so long is let go. */
  readonly idleMs: number;
  readonly limits: MemoryLimits;
  /** Ends what is being started: the process is to end. */
  readonly signal?: AbortSignal;
  /** Takes a session up again that could not go on; rejects when it cannot. */
  resume(sessionId: string): Promise<unknown>;
  report(error: unknown): void;
  /** It was tried in vain. */
  onGiveUp(sessionId: string, error: unknown): void;
}

/** Parts of a driver that the pool provides. */
export interface DriverStart extends Pick<DriverOptions, "onFailure" | "rested"> {
  /** Ends the start: the session is deleted, or the process ends. */
  readonly signal: AbortSignal;
}

export interface DriverUse<Result> {
  /** Starts a driver if the session has none. */
  start(parts: DriverStart): Promise<Driver>;
  /** The session stays in memory until this resolves. */
  work(driver: Driver): Promise<Result> | Result;
  /** A driver that this use starts is evicted when its first prompt is answered and no other prompt came. */
  readonly isOneShot?: boolean;
}

/** The drivers of this process, by session. */
export interface DriverPool {
  /** Works with the driver of a session. Of two uses at once that find none, one starts it. */
  use<Result>(sessionId: string, use: DriverUse<Result>): Promise<Result>;
  /** Resolves when a session may be started again: its former driver has ended. */
  waitUntilEnded(sessionId: string): Promise<void>;
  /** Resumes a session later that could not be resumed in the background. */
  resumeLater(sessionId: string, error: unknown): void;
  /** Whether its driver failed in this process and none was started since, so that its clients are still there. */
  hasFailedHere(sessionId: string): boolean;
  /** The error of a session whose log cannot be written at this moment; undefined if there is none. */
  findWriteError(): unknown;
  remove(sessionId: string): Promise<void>;
  /** Takes no session up again by itself any more, and ends what is being started, now or later. */
  stopStarting(): void;
  close(): Promise<void>;
}

interface PooledDriver {
  readonly started: Promise<Driver>;
  readonly controller: AbortController;
  readonly isOneShot: boolean;
  /** Undefined while it is started. */
  driver?: Driver;
  users: number;
}

export function createDriverPool(options: PoolOptions): DriverPool {
  const { clock, idleMs, limits } = options;
  const drivers = new Map<string, PooledDriver>();
  /** Evicted drivers that have not ended yet. */
  const endings = new Map<string, Promise<void>>();
  /** Aborted when no driver is to be started any more. */
  const resting = new AbortController();
  const failedHere = new Set<string>();
  const driverRetry = createDriverRetry({
    clock,
    resume: (sessionId) => options.resume(sessionId),
    report: (error) => options.report(error),
    onGiveUp: (sessionId, error) => options.onGiveUp(sessionId, error),
  });

  // `AbortSignal.any` would leave an entry on a signal that lives as long as the process, for every driver.
  const rest = (reason: unknown): void => {
    resting.abort(reason);
    for (const { controller } of drivers.values()) controller.abort(reason);
  };
  if (options.signal?.aborted === true) rest(options.signal.reason);
  else options.signal?.addEventListener("abort", () => rest(options.signal?.reason));

  const drop = (sessionId: string): PooledDriver | undefined => {
    const pooled = drivers.get(sessionId);
    drivers.delete(sessionId);
    eviction.remove(sessionId);
    return pooled;
  };
  const evict = (sessionId: string): void => {
    const driver = drop(sessionId)?.driver;
    if (driver === undefined) return;
    const ending = driver
      .close()
      .catch((error: unknown) => options.report(error))
      .finally(() => endings.delete(sessionId));
    endings.set(sessionId, ending);
  };
  const eviction = idleEviction({ clock, idleMs, limits, evict });

  const rested = (sessionId: string, pooled: PooledDriver): void => {
    const { driver, users } = pooled;
    if (users > 0 || driver?.isQuiet !== true || drivers.get(sessionId) !== pooled) return;
    if (pooled.isOneShot && isAnswered(driver)) evict(sessionId);
    else eviction.rest(sessionId, driver);
  };

  const begin = (
    sessionId: string,
    { start, isOneShot = false }: Pick<DriverUse<unknown>, "start" | "isOneShot">,
  ): PooledDriver => {
    const controller = new AbortController();
    const forget = (): void => {
      // Another one may have been started for it since.
      if (drivers.get(sessionId) === pooled) drop(sessionId);
    };
    const onFailure: DriverStart["onFailure"] = (error, over) => {
      forget();
      if (!isTakenOver(error)) failedHere.add(sessionId);
      driverRetry.recordFailure(sessionId, error, over);
    };
    if (resting.signal.aborted) controller.abort(resting.signal.reason);
    const { signal } = controller;
    const started = start({ onFailure, rested: () => rested(sessionId, pooled), signal });
    const pooled: PooledDriver = { started, controller, isOneShot, users: 0 };
    drivers.set(sessionId, pooled);
    started.then((driver) => {
      pooled.driver = driver;
      return failedHere.delete(sessionId);
    }, forget);
    return pooled;
  };

  return {
    async use(sessionId, use) {
      const pooled = drivers.get(sessionId) ?? begin(sessionId, use);
      pooled.users += 1;
      eviction.use(sessionId);
      try {
        return await use.work(await pooled.started);
      } finally {
        pooled.users -= 1;
        rested(sessionId, pooled);
      }
    },
    async waitUntilEnded(sessionId) {
      await endings.get(sessionId);
      await driverRetry.waitUntilEnded(sessionId);
    },
    resumeLater: (sessionId, error) => driverRetry.resumeLater(sessionId, error),
    hasFailedHere: (sessionId) => failedHere.has(sessionId),
    findWriteError() {
      for (const { driver } of drivers.values())
        if (driver?.writeError !== undefined) return driver.writeError;
      return undefined;
    },
    async remove(sessionId) {
      const pooled = drop(sessionId);
      if (pooled?.driver === undefined)
        pooled?.controller.abort(createAbortedStartError("This session is deleted"));
      await endings.get(sessionId);
      await (await pooled?.started.catch(() => undefined))?.close();
    },
    stopStarting() {
      eviction.stop();
      driverRetry.stop();
      rest(createAbortedStartError("The sessions are closed here"));
    },
    async close() {
      const open = await Promise.allSettled([...drivers.values()].map(({ started }) => started));
      drivers.clear();
      const started = open.flatMap((outcome) =>
        outcome.status === "fulfilled" ? [outcome.value] : [],
      );
      await Promise.all([...started.map((driver) => driver.close()), ...endings.values()]);
    },
  };
}

/** The first prompt is answered, and no other came. An agent with a time of its own costs too much to open again. */
function isAnswered({ state, idleMs }: Driver): boolean {
  return idleMs === undefined && state.submittedPrompts.length <= 1;
}

function createAbortedStartError(why: string): SpanlineError {
  return new SpanlineError("aborted", `${why}; it was not taken up`);
}

/** By another process: its clients are not ours. */
function isTakenOver(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "stale_lease";
}
