import { SpanlineError } from "../../domain/errors.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Driver, DriverOptions } from "./driver.ts";
import { createIdleEviction, type IdleEviction, type MemoryLimits } from "./idle-eviction.ts";
import { createDriverRetry, type DriverRetry } from "./driver-retry.ts";

export interface PoolOptions {
  readonly clock: SteadyClock;
  /** Milliseconds. A driver unused for this long is closed. */
  readonly idleMs: number;
  readonly limits: MemoryLimits;
  /** Aborted at process shutdown; cancels drivers being started. */
  readonly signal?: AbortSignal;
  /** Resumes a session after a failure. Rejects if it cannot. */
  resume(sessionId: string): Promise<unknown>;
  report(error: unknown): void;
  /** Called when all retries have failed. */
  onGiveUp(sessionId: string, error: unknown): void;
}

/** Parts of a driver provided by the pool. */
export interface DriverStart extends Pick<DriverOptions, "onFailure" | "rested"> {
  /** Cancels the start if the session is deleted or the process shuts down. */
  readonly signal: AbortSignal;
}

export interface DriverUse<Result> {
  /** Starts a driver if the session has none. */
  start(parts: DriverStart): Promise<Driver>;
  /** The session stays in memory until this resolves. */
  work(driver: Driver): Promise<Result> | Result;
  /** Evict the started driver once its first prompt is finished, unless another prompt arrived. */
  readonly isOneShot?: boolean;
}

/** The drivers of this process, by session. */
export interface DriverPool {
  /** Runs `work` with the driver of a session. Concurrent uses share a single start. */
  use<Result>(sessionId: string, use: DriverUse<Result>): Promise<Result>;
  /** Resolves when the previous driver of a session has ended, so the session may be started again. */
  waitUntilEnded(sessionId: string): Promise<void>;
  /** Schedules another attempt for a session which could not be resumed in the background. */
  resumeLater(sessionId: string, error: unknown): void;
  /**
   * Whether the session's driver failed in this process and none was started since. Its clients are then still
   * connected.
   */
  hasFailedHere(sessionId: string): boolean;
  /** The error of a session whose log cannot be written at present. Undefined if there is none. */
  findWriteError(): unknown;
  remove(sessionId: string): Promise<void>;
  /** Stops automatic resumption, and cancels all current and later starts. */
  stopStarting(): void;
  close(): Promise<void>;
}

interface PooledDriver {
  readonly started: Promise<Driver>;
  readonly controller: AbortController;
  readonly isOneShot: boolean;
  /** Undefined while starting. */
  driver?: Driver;
  users: number;
}

export function createDriverPool(options: PoolOptions): DriverPool {
  return new PooledDrivers(options);
}

class PooledDrivers implements DriverPool {
  readonly #options: PoolOptions;
  readonly #drivers = new Map<string, PooledDriver>();
  /** Evicted drivers which have not ended yet. */
  readonly #endings = new Map<string, Promise<void>>();
  /** Aborted when no further drivers may start. */
  readonly #resting = new AbortController();
  readonly #failedHere = new Set<string>();
  readonly #driverRetry: DriverRetry;
  readonly #eviction: IdleEviction;

  constructor(options: PoolOptions) {
    const { clock, idleMs, limits, signal } = options;
    this.#options = options;
    this.#driverRetry = createDriverRetry({
      clock,
      resume: (sessionId) => options.resume(sessionId),
      report: (error) => options.report(error),
      onGiveUp: (sessionId, error) => options.onGiveUp(sessionId, error),
    });
    const evict = (sessionId: string): void => this.#evict(sessionId);
    this.#eviction = createIdleEviction({ clock, idleMs, limits, evict });
    if (signal?.aborted === true) this.#abortStarts(signal.reason);
    else signal?.addEventListener("abort", () => this.#abortStarts(signal.reason));
  }

  async use<Result>(sessionId: string, use: DriverUse<Result>): Promise<Result> {
    const pooled = this.#drivers.get(sessionId) ?? this.#begin(sessionId, use);
    pooled.users += 1;
    this.#eviction.use(sessionId);
    try {
      return await use.work(await pooled.started);
    } finally {
      pooled.users -= 1;
      this.#rest(sessionId, pooled);
    }
  }

  async waitUntilEnded(sessionId: string): Promise<void> {
    await this.#endings.get(sessionId);
    await this.#driverRetry.waitUntilEnded(sessionId);
  }

  resumeLater(sessionId: string, error: unknown): void {
    this.#driverRetry.resumeLater(sessionId, error);
  }

  hasFailedHere(sessionId: string): boolean {
    return this.#failedHere.has(sessionId);
  }

  findWriteError(): unknown {
    for (const { driver } of this.#drivers.values())
      if (driver?.writeError !== undefined) return driver.writeError;
    return undefined;
  }

  async remove(sessionId: string): Promise<void> {
    const pooled = this.#drop(sessionId);
    if (pooled?.driver === undefined)
      pooled?.controller.abort(createAbortedStartError("This session is deleted"));
    await this.#endings.get(sessionId);
    await (await pooled?.started.catch(() => undefined))?.close();
  }

  stopStarting(): void {
    this.#eviction.stop();
    this.#driverRetry.stop();
    this.#abortStarts(createAbortedStartError("This process has closed its sessions"));
  }

  async close(): Promise<void> {
    const drivers = [...this.#drivers.values()];
    const open = await Promise.allSettled(drivers.map(({ started }) => started));
    this.#drivers.clear();
    const started = open.flatMap((outcome) =>
      outcome.status === "fulfilled" ? [outcome.value] : [],
    );
    await Promise.all([...started.map((driver) => driver.close()), ...this.#endings.values()]);
  }

  #begin(
    sessionId: string,
    { start, isOneShot = false }: Pick<DriverUse<unknown>, "start" | "isOneShot">,
  ): PooledDriver {
    const controller = new AbortController();
    const forget = (): void => {
      // Another driver may have been started for the session since.
      if (this.#drivers.get(sessionId) === pooled) this.#drop(sessionId);
    };
    const onFailure: DriverStart["onFailure"] = (error, over) => {
      forget();
      if (!isTakenOver(error)) this.#failedHere.add(sessionId);
      this.#driverRetry.recordFailure(sessionId, error, over);
    };
    const { signal: resting } = this.#resting;
    if (resting.aborted) controller.abort(resting.reason);
    const { signal } = controller;
    const started = start({ onFailure, rested: () => this.#rest(sessionId, pooled), signal });
    const pooled: PooledDriver = { started, controller, isOneShot, users: 0 };
    this.#drivers.set(sessionId, pooled);
    started.then((driver) => {
      pooled.driver = driver;
      return this.#failedHere.delete(sessionId);
    }, forget);
    return pooled;
  }

  /** Marks a driver without users and work as idle, so it may be evicted. */
  #rest(sessionId: string, pooled: PooledDriver): void {
    const { driver, users } = pooled;
    if (users > 0 || driver?.isQuiet !== true || this.#drivers.get(sessionId) !== pooled) return;
    if (pooled.isOneShot && isAnswered(driver)) this.#evict(sessionId);
    else this.#eviction.rest(sessionId, driver);
  }

  #evict(sessionId: string): void {
    const driver = this.#drop(sessionId)?.driver;
    if (driver === undefined) return;
    const ending = driver
      .close()
      .catch((error: unknown) => this.#options.report(error))
      .finally(() => this.#endings.delete(sessionId));
    this.#endings.set(sessionId, ending);
  }

  #drop(sessionId: string): PooledDriver | undefined {
    const pooled = this.#drivers.get(sessionId);
    this.#drivers.delete(sessionId);
    this.#eviction.remove(sessionId);
    return pooled;
  }

  // Not `AbortSignal.any`: every driver would leave an entry on a signal which lives as long as the process.
  #abortStarts(reason: unknown): void {
    this.#resting.abort(reason);
    for (const { controller } of this.#drivers.values()) controller.abort(reason);
  }
}

/**
 * Whether the first prompt is finished and no other arrived. Agents with their own idle time are excluded: opening them
 * again is expensive.
 */
function isAnswered({ state, idleMs }: Driver): boolean {
  return idleMs === undefined && state.submittedPrompts.length <= 1;
}

function createAbortedStartError(why: string): SpanlineError {
  return new SpanlineError("aborted", `${why}; it was not resumed`);
}

/** Another process took over the session, so its clients are not connected to this one. */
function isTakenOver(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "stale_lease";
}
