/**
 * The loop is everybody's, and reading a file blocks it. One reader reads in each turn of it, whoever came first, so that
 * however many catch up at the same time, nobody else waits longer than for one of their batches. Those who say that they
 * read little share a turn.
 */
export class ReadQueue {
  readonly #waiting = new Set<() => void>();
  /** Nobody else may read now. */
  #isTaken = false;
  /** How much of what may be read in this turn was; undefined before anybody has. */
  #part: number | undefined;

  /** Resolves when the caller may read, at once when nobody else does in this turn of the loop, or with the signal. */
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

  /** Whoever was let in last has read, and this part of what may be read in one turn: where some is left, the next may. */
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
