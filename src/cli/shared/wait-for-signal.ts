/** Resolves when somebody wants this process to end. Whoever wants it once more ends it at once. */
export function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const signal of SIGNALS) process.off(signal, stop);
      resolve();
    };
    for (const signal of SIGNALS) process.on(signal, stop);
  });
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
