/**
 * The loop is everybody's, and reading a file blocks it. One reader reads in each turn of it, whoever came first, so that
 * however many catch up at the same time, nobody else waits longer than for one of their batches.
 */
export class ReadingQueue {
  readonly #waiting = new Set<() => void>();
  #isTaken = false;

  /** Resolves when the caller may read, at once when nobody else does in this turn of the loop, or with the signal. */
  wait(signal: AbortSignal): Promise<void> {
    if (!this.#isTaken) {
      this.#take();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const enter = (): void => {
        this.#waiting.delete(enter);
        signal.removeEventListener("abort", enter);
        resolve();
      };
      if (signal.aborted) return resolve();
      this.#waiting.add(enter);
      signal.addEventListener("abort", enter);
    });
  }

  #take(): void {
    this.#isTaken = true;
    setImmediate(() => {
      const [enter] = this.#waiting;
      this.#isTaken = false;
      if (enter === undefined) return;
      this.#take();
      enter();
    });
  }
}
