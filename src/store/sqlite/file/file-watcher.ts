import type { Clock } from "../../../platform/clock.ts";
import type { ChangeNotifier } from "../../subscribe-to-log.ts";
import type { Sql } from "./sql.ts";

/**
 * Notifies readers when another process has written to the file. Polls every 50 ms while at least one subscription is
 * open.
 */
export class FileWatcher {
  readonly #sql: Sql;
  readonly #notifier: ChangeNotifier;
  readonly #clock: Clock;
  #followers = 0;
  #stop: (() => void) | undefined;

  constructor(sql: Sql, notifier: ChangeNotifier, clock: Clock) {
    this.#sql = sql;
    this.#notifier = notifier;
    this.#clock = clock;
  }

  addFollower(): () => void {
    this.#followers += 1;
    if (this.#followers === 1) this.#watch(this.#version());
    return () => {
      this.#followers -= 1;
      if (this.#followers === 0) this.#stop?.();
    };
  }

  #watch(seen: number): void {
    this.#stop = this.#clock.schedule(POLL_INTERVAL_MS, () => {
      if (this.#notifier.isClosed) return;
      const version = this.#version();
      if (version !== seen) this.#notifier.notifyAll();
      this.#watch(version);
    });
  }

  /** `data_version` changes when another connection commits. Reading it costs one look at shared memory. */
  #version(): number {
    return this.#sql.get("PRAGMA data_version")?.number("data_version") ?? 0;
  }
}

const POLL_INTERVAL_MS = 50;
