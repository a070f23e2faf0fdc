import { SpanlineError } from "../domain/errors.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { Driver, DriverOptions } from "./driver.ts";
import { passivation } from "./passivation.ts";
import { retakes } from "./retakes.ts";

export interface PoolOptions {
  readonly clock: SteadyClock;
  /** A driver that nobody used for so long is let go. */
  readonly idleMs: number;
  /** Ends what is being started: the process is to end. */
  readonly signal?: AbortSignal;
  /** Takes a session up again that could not go on; rejects when it cannot. */
  retake(sessionId: string): Promise<unknown>;
  report(error: unknown): void;
  /** It was tried in vain. */
  gaveUp(sessionId: string, error: unknown): void;
}

export type Failed = DriverOptions["failed"];

/** The signal ends the start: the session is deleted, or the process ends. */
export type StartDriver = (failed: Failed, signal: AbortSignal) => Promise<Driver>;

/** The drivers of this process, by session. */
export interface DriverPool {
  /** The driver that there is, else the one that `start` makes: of two that ask at once, one starts it. */
  use(sessionId: string, start: StartDriver): Promise<Driver>;
  /** Resolves when a session that failed here may be taken up: what its driver had begun is over. */
  over(sessionId: string): Promise<void>;
  /** Resumes a session later that could not be resumed in the background. */
  resumeLater(sessionId: string, error: unknown): void;
  /** Whether its driver failed in this process and none was started since, so that its clients are still there. */
  isLeft(sessionId: string): boolean;
  remove(sessionId: string): Promise<void>;
  /** Takes no session up again by itself any more, and ends what is being started, now or later. */
  rest(): void;
  close(): Promise<void>;
}

export function driverPool(options: PoolOptions): DriverPool {
  const { clock, idleMs } = options;
  const drivers = new Map<string, Promise<Driver>>();
  const starting = new Map<string, AbortController>();
  const resting = new AbortController();
  const ends = [resting.signal, ...(options.signal === undefined ? [] : [options.signal])];
  const left = new Set<string>();
  const idle = passivation({ clock, idleMs, drivers });
  const again = retakes({
    clock,
    retake: (sessionId) => options.retake(sessionId),
    report: (error) => options.report(error),
    gaveUp: (sessionId, error) => options.gaveUp(sessionId, error),
  });

  return {
    use(sessionId, start) {
      idle.used(sessionId);
      const known = drivers.get(sessionId);
      if (known !== undefined) return known;
      const forget = (): void => {
        // Another one may have been started for it since.
        if (drivers.get(sessionId) === started) drivers.delete(sessionId);
      };
      const controller = new AbortController();
      const failed: Failed = (error, over) => {
        forget();
        if (!isTaken(error)) left.add(sessionId);
        again.failed(sessionId, error, over);
      };
      const signal = AbortSignal.any([...ends, controller.signal]);
      const started = start(failed, signal).finally(() => {
        if (starting.get(sessionId) === controller) starting.delete(sessionId);
      });
      starting.set(sessionId, controller);
      drivers.set(sessionId, started);
      started.then(
        () => left.delete(sessionId),
        () => {
          forget();
          idle.forget(sessionId);
        },
      );
      return started;
    },
    over: (sessionId) => again.over(sessionId),
    resumeLater: (sessionId, error) => again.resumeLater(sessionId, error),
    isLeft: (sessionId) => left.has(sessionId),
    async remove(sessionId) {
      const driver = drivers.get(sessionId);
      drivers.delete(sessionId);
      idle.forget(sessionId);
      starting.get(sessionId)?.abort(notWanted("This session is deleted"));
      await (await driver?.catch(() => undefined))?.close();
    },
    rest() {
      idle.stop();
      again.stop();
      resting.abort(notWanted("The sessions are closed here"));
    },
    async close() {
      const open = await Promise.allSettled(drivers.values());
      drivers.clear();
      const started = open.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      await Promise.all(started.map((driver) => driver.close()));
    },
  };
}

function notWanted(why: string): SpanlineError {
  return new SpanlineError("aborted", `${why}; it was not taken up`);
}

/** By another process: its clients are not ours. */
function isTaken(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "stale_lease";
}
