import type { ChildProcess } from "node:child_process";
import { systemClock } from "../clock.ts";

/** A process and all that it started, in the background too, unless that left for a group of its own. */
export interface ProcessGroup {
  readonly isAlive: boolean;
  /** Ends all of them, whatever they do. */
  kill(): void;
  /** Resolves when none of them is left, or when they have had all the time that the system needs. */
  waitUntilGone(): Promise<void>;
}

/** The group that a process of ours leads which was spawned as `detached`. */
export function processGroupFromLeader(
  leader: Pick<ChildProcess, "pid" | "exitCode" | "signalCode">,
): ProcessGroup {
  return createProcessGroup(leader.pid, (pid) => {
    if (leader.exitCode === null && leader.signalCode === null) return true;
    // The system gives out no number that a group still goes by: a process that has it now means that our group is gone.
    return sendSignal(pid, 0) === "none" && sendSignal(-pid, 0) === "yes";
  });
}

/** A group whose leader was no process of ours: whoever asks for it knows that the number is still the group's. */
export function processGroupFromId(id: number): ProcessGroup {
  return createProcessGroup(id, () => sendSignal(-id, 0) === "yes");
}

function createProcessGroup(
  id: number | undefined,
  isAlive: (id: number) => boolean,
): ProcessGroup {
  const self: ProcessGroup = {
    get isAlive() {
      return id !== undefined && isAlive(id);
    },
    kill() {
      if (id !== undefined && isAlive(id)) sendSignal(-id, "SIGKILL");
    },
    async waitUntilGone() {
      // In a container without an init, what nobody waits for stays in the table of processes for good.
      for (let poll = 0; poll < MAX_POLLS && self.isAlive; poll++) await waitForPoll();
    },
  };
  return self;
}

/** `forbidden` is another user's, and none of ours. */
function sendSignal(target: number, signal: 0 | "SIGKILL"): "yes" | "none" | "forbidden" {
  try {
    process.kill(target, signal);
    return "yes";
  } catch (error) {
    const isForbidden = error instanceof Error && "code" in error && error.code === "EPERM";
    return isForbidden ? "forbidden" : "none";
  }
}

const MAX_POLLS = 40;
const POLL_MS = 5;

/** By the system's clock: processes know no other. */
function waitForPoll(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.schedule(POLL_MS, resolve);
  });
}
