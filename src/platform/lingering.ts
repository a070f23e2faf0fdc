/** Calls back when this process is still there after some milliseconds. That alone does not keep it. */
export function lingering(milliseconds: number, run: () => void): void {
  setTimeout(run, milliseconds).unref();
}
