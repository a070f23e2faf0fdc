/**
 * Limits how much of each tick is spent on file reads, because reading SQLite blocks the event loop. One reader is
 * admitted per tick, first come, first served. However many readers catch up at the same time, other work waits for at
 * most one batch. Readers that report a small read share a tick.
 */
export class ReadQueue {
  readonly #waiting = new Set<() => void>();
  /** True while a reader is admitted: all others wait. */
  #isTaken = false;
  /** The share of this tick's read limit already used. Undefined before the first read of a tick. */
  #part: number | undefined;

  /**
   * Resolves when the caller may read: at once if no other reader was admitted in this tick, otherwise in order of
   * arrival. Also resolves when the signal aborts.
   */
  wait(signal?: AbortSignal): Promise<void> {
    if (!this.#isTaken) {
      this.#take();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const enter = (): void => {
        this.#waiting.delete(enter);
        signal?.removeEventListener("abort", enter);
        resolve();
      };
      if (signal?.aborted === true) return resolve();
      this.#waiting.add(enter);
      signal?.addEventListener("abort", enter);
    });
  }

  /**
   * Reports the share of a tick's read limit used by the last admitted reader. Admits the next reader if some share
   * remains. A reader that does not call this method uses its whole tick.
   */
  finishRead(part: number): void {
    this.#part = (this.#part ?? 0) + part;
    if (this.#part < 1) this.#letIn();
  }

  #letIn(): void {
    const [enter] = this.#waiting;
    this.#isTaken = false;
    if (enter === undefined) return;
    this.#take();
    enter();
  }

  #take(): void {
    this.#isTaken = true;
    if (this.#part !== undefined) return;
    this.#part = 0;
    setImmediate(() => {
      this.#part = undefined;
      this.#letIn();
    });
  }
}
