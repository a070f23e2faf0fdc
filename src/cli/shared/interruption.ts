import type { CommandIo } from "../../platform/process/command-io.ts";

export interface Interruption {
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/** The first SIGINT or SIGTERM aborts the signal, so the command can clean up. The second ends the process at once. */
export function watchInterruption({ signals, exit }: CommandIo, notify: () => void): Interruption {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) return exit(INTERRUPTED);
    notify();
    controller.abort();
  };
  for (const signal of SIGNALS) signals.on(signal, interrupt);
  return {
    signal: controller.signal,
    release() {
      for (const signal of SIGNALS) signals.off(signal, interrupt);
    },
  };
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Exit code of shells for SIGINT: 128 plus the number of the signal. */
export const INTERRUPTED = 130;
