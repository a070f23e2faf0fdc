/** Calls back when this process is still there after some milliseconds. That alone does not keep it. */
export function startExitWatchdog(milliseconds: number, run: () => void): void {
  setTimeout(run, milliseconds).unref();
}
