/** Keeps the running effects in line with the due ones. */
export interface EffectRunner<Effect> {
  /** Aborts running effects which are no longer due, then starts due ones which are not running. */
  reconcile(due: ReadonlyMap<string, Effect>): void;
  /** Aborts all effects and waits for their end. */
  stop(): Promise<void>;
}

export interface RunnerOptions<Effect> {
  run(effect: Effect, signal: AbortSignal): Promise<void>;
  /** Resolves when an aborted effect which does not end should no longer be waited for. */
  waitForStop(signal: AbortSignal): Promise<void>;
  onError(error: unknown): void;
}

export function createEffectRunner<Effect>(options: RunnerOptions<Effect>): EffectRunner<Effect> {
  const running = new Map<string, { readonly controller: AbortController; done: Promise<void> }>();
  const stopping = new Set<Promise<void>>();

  const waitUntilStopped = async (): Promise<void> => {
    if (stopping.size === 0) return;
    const waiting = new AbortController();
    const patience = options.waitForStop(waiting.signal).catch(() => undefined);
    await Promise.race([Promise.allSettled(stopping), patience]);
    waiting.abort();
  };
  const begin = async (effect: Effect, signal: AbortSignal): Promise<void> => {
    // Aborted effects may still be running: nothing new starts next to them.
    await waitUntilStopped();
    if (signal.aborted) return;
    try {
      await options.run(effect, signal);
    } catch (error) {
      if (!signal.aborted) options.onError(error);
    }
  };
  const stopEffect = (id: string): void => {
    const entry = running.get(id);
    if (entry === undefined) return;
    running.delete(id);
    entry.controller.abort();
    const done = entry.done.finally(() => stopping.delete(done));
    stopping.add(done);
  };

  return {
    reconcile(due) {
      for (const id of running.keys()) if (!due.has(id)) stopEffect(id);
      for (const [id, effect] of due) {
        if (running.has(id)) continue;
        const controller = new AbortController();
        running.set(id, { controller, done: begin(effect, controller.signal) });
      }
    },
    async stop() {
      for (const id of running.keys()) stopEffect(id);
      await waitUntilStopped();
    },
  };
}
