import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolder } from "../../../platform/files/private-files.ts";
import type { ProcessGroup } from "../../../platform/process/process-group.ts";

/** The folder that the commands of a session run in, and their processes. */
export interface SessionWorkspace {
  /** Makes the folder where there is none. */
  openFolder(): Promise<string>;
  /** Has processes end with the session. */
  addProcessGroup(group: ProcessGroup): void;
  /** Whether a process is left, in the background too. */
  readonly isInUse: boolean;
  /** Ends all processes. Once they are gone, the folder goes too. */
  clear(): Promise<void>;
  /** Ends all processes. A folder that only lasts as long as this process goes with them. */
  close(): Promise<void>;
}

/** Without a place of its own, it is a temporary folder. */
export function createSessionWorkspace(configuredFolder: string | undefined): SessionWorkspace {
  let folder = configuredFolder;
  let groups: readonly ProcessGroup[] = [];
  /** Whether files of an earlier life could not be removed. */
  let isStale = false;

  const killProcesses = async (): Promise<void> => {
    const endingGroups = groups;
    groups = [];
    for (const group of endingGroups) group.kill();
    await Promise.all(endingGroups.map((group) => group.waitUntilGone()));
  };
  const remove = async (): Promise<void> => {
    if (folder === undefined) return;
    isStale = true;
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    isStale = false;
    folder = configuredFolder;
  };
  /** Files that cannot be removed are told to the next command, and to nobody who runs none. */
  const clear = async (): Promise<void> => {
    await killProcesses();
    await remove().catch(() => {});
  };
  return {
    async openFolder() {
      if (isStale) await remove();
      folder ??= await mkdtemp(join(tmpdir(), "spanline-session-"));
      await makeFolder(folder);
      return folder;
    },
    addProcessGroup(group) {
      groups = [...groups.filter(({ isAlive }) => isAlive), group];
    },
    get isInUse() {
      return groups.some(({ isAlive }) => isAlive);
    },
    clear,
    close: () => (configuredFolder === undefined ? clear() : killProcesses()),
  };
}
