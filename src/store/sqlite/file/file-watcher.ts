import type { Clock } from "../../../platform/clock.ts";
import type { ChangeNotifier } from "../../subscribe-to-log.ts";
import type { Sql } from "./sql.ts";

/** Rings when another process has written to the file, for as long as somebody follows a session here. */
export class FileWatcher {
  readonly #sql: Sql;
  readonly #bell: ChangeNotifier;
  readonly #clock: Clock;
  #followers = 0;
  #stop: (() => void) | undefined;

  constructor(sql: Sql, bell: ChangeNotifier, clock: Clock) {
    this.#sql = sql;
    this.#bell = bell;
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
      if (this.#bell.isClosed) return;
      const version = this.#version();
      if (version !== seen) this.#bell.notifyAll();
      this.#watch(version);
    });
  }

  /** Changes when another connection commits, and costs a look at shared memory. */
  #version(): number {
    return this.#sql.get("PRAGMA data_version")?.number("data_version") ?? 0;
  }
}

const POLL_INTERVAL_MS = 50;
