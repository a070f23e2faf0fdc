import type { CommandIo } from "../../platform/process/command-io.ts";

/**
 * Resolves on the first SIGINT or SIGTERM. The handlers are then removed, so a second signal ends the process at once.
 */
export function waitForSignal({ signals }: CommandIo): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of SIGNALS) signals.off(signal, stop);
      resolve();
    };
    for (const signal of SIGNALS) signals.on(signal, stop);
  });
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
