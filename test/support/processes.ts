import { readFileSync } from "node:fs";
import { eventually } from "./eventually.ts";

/** True if a process is running. False for a dead process that is not yet reaped. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) !== "Z";
  } catch {
    return false;
  }
}

export async function expectGone(pid: number): Promise<void> {
  await eventually(() => {
    if (isAlive(pid)) throw new Error(`Process ${pid} is still running`);
  });
}
