import { pause } from "../../../async/pause.ts";
import { formatPushKey, type StoredPush } from "./push-store.ts";
import { runPush, type PushRunOptions } from "./push-run.ts";

interface Run {
  readonly owner: string;
  readonly stopping: AbortController;
  /** Never rejects. */
  readonly done: Promise<void>;
}

const RETRY_MS = 5000;

/** Runs the deliveries of all configs at the same time, so that a slow receiver delays no other. */
export class PushDispatcher {
  readonly #options: PushRunOptions;
  readonly #runs = new Map<string, Run>();
  #isClosed = false;

  constructor(options: PushRunOptions) {
    this.#options = options;
  }

  /** Continues the deliveries of earlier processes. Resolves after the signal, when no delivery runs any more. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#load(signal);
    if (!signal.aborted)
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    this.#isClosed = true;
    await Promise.all([...this.#runs.keys()].map((key) => this.stop(key)));
  }

  start(push: StoredPush): void {
    const key = formatPushKey(push);
    if (this.#isClosed || this.#runs.has(key)) return;
    const stopping = new AbortController();
    const done = runPush(key, this.#options, stopping.signal).then(() => {
      if (this.#runs.get(key)?.stopping === stopping) this.#runs.delete(key);
    });
    this.#runs.set(key, { owner: push.owner, stopping, done });
  }

  /** Resolves when no further notification is sent. */
  async stop(key: string): Promise<void> {
    const run = this.#runs.get(key);
    run?.stopping.abort();
    await run?.done;
  }

  /** The configs of a principal whose tasks have not ended. */
  countRuns(owner: string): number {
    return [...this.#runs.values()].filter((run) => run.owner === owner).length;
  }

  async #load(signal: AbortSignal): Promise<void> {
    const { store, clock, report } = this.#options;
    while (!signal.aborted) {
      try {
        for await (const push of store.list()) if (!push.isDone) this.start(push);
        return;
      } catch (error) {
        if (!signal.aborted) report(error);
        await pause(clock, RETRY_MS, signal).catch(() => undefined);
      }
    }
  }
}
