import { readFileSync } from "node:fs";
import { vi } from "vitest";

/** Whether a process still does something: a dead one that nobody has reaped does not. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) !== "Z";
  } catch {
    return false;
  }
}

export async function expectGone(pid: number): Promise<void> {
  await vi.waitFor(
    () => {
      if (isAlive(pid)) throw new Error(`The process ${pid} is still there`);
    },
    { timeout: 15_000, interval: 5 },
  );
}
