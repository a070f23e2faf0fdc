import type { ChildProcess } from "node:child_process";
import { systemClock } from "../../platform/clock.ts";

/** A command's shell and all that it started, in the background too, unless that left for a group of its own. */
export interface ProcessGroup {
  readonly isAlive: boolean;
  /** Ends all of them, whatever they do. */
  kill(): void;
  /** Resolves when none of them is left, or when they have had all the time that the system needs. */
  gone(): Promise<void>;
}

/** The group that a process leads which was spawned as `detached`. */
export function processGroup(leader: ChildProcess): ProcessGroup {
  const isAlive = (): boolean => {
    const { pid, exitCode, signalCode } = leader;
    if (pid === undefined) return false;
    if (exitCode === null && signalCode === null) return true;
    // The system gives out no number that a group still goes by: a process that has it now means that our group is gone.
    return sent(pid, 0) === "none" && sent(-pid, 0) === "yes";
  };
  return {
    get isAlive() {
      return isAlive();
    },
    kill() {
      if (leader.pid !== undefined && isAlive()) sent(-leader.pid, "SIGKILL");
    },
    async gone() {
      // In a container without an init, what nobody waits for stays in the table of processes for good.
      for (let look = 0; look < MOST_LOOKS && isAlive(); look++) await moment();
    },
  };
}

function sent(target: number, signal: 0 | "SIGKILL"): "yes" | "none" | "forbidden" {
  try {
    process.kill(target, signal);
    return "yes";
  } catch (error) {
    const isForbidden = error instanceof Error && "code" in error && error.code === "EPERM";
    return isForbidden ? "forbidden" : "none";
  }
}

const MOST_LOOKS = 20;

/** By the system's clock: processes know nothing of the emulator's. */
function moment(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.after(5, resolve);
  });
}
