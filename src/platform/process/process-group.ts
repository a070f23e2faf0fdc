import type { ChildProcess } from "node:child_process";
import { systemClock } from "../clock.ts";

/**
 * A process and all of its descendants, including background processes. Excludes processes that created their own
 * group.
 */
export interface ProcessGroup {
  readonly isAlive: boolean;
  /** Kills all processes with SIGKILL. */
  kill(): void;
  /** Resolves when all processes are gone, or after 200 ms. */
  waitUntilGone(): Promise<void>;
}

/** The group led by a child of this process. The child must have been spawned with `detached`. */
export function processGroupFromLeader(
  leader: Pick<ChildProcess, "pid" | "exitCode" | "signalCode">,
): ProcessGroup {
  return createProcessGroup(leader.pid, (pid) => {
    if (leader.exitCode === null && leader.signalCode === null) return true;
    // The system never assigns the id of an existing group to a new process. So if a process has this id, our group is
    // gone.
    return sendSignal(pid, 0) === "none" && sendSignal(-pid, 0) === "yes";
  });
}

/** The group of a process that is not our child. The caller must know that the id still belongs to the group. */
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
      // Limited, because in a container without an init process, unreaped processes stay in the process table forever.
      for (let poll = 0; poll < MAX_POLLS && self.isAlive; poll++) await waitForPoll();
    },
  };
  return self;
}

/** `forbidden` means another user's process, so not a member of the group. */
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

/** Uses the system clock, because processes do not follow a fake clock. */
function waitForPoll(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.schedule(POLL_MS, resolve);
  });
}
