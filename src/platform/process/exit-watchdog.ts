/** Calls `run` if this process still exists after the given time. The timer does not keep the process alive. */
export function startExitWatchdog(milliseconds: number, run: () => void): void {
  setTimeout(run, milliseconds).unref();
}
