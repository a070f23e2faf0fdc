import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolder } from "../../../platform/files/private-files.ts";
import type { ProcessGroup } from "../../../platform/process/process-group.ts";

/** The folder for the commands of a session, and their processes. */
export interface SessionWorkspace {
  /** Creates the folder if needed. */
  openFolder(): Promise<string>;
  /** Registers processes to be killed with the session. */
  addProcessGroup(group: ProcessGroup): void;
  /** True if any process is running, including background processes. */
  readonly isInUse: boolean;
  /** Kills all processes, then removes the folder. */
  clear(): Promise<void>;
  /** Kills all processes. Removes the folder only if it is temporary. */
  close(): Promise<void>;
}

/** Creates a workspace. Without a configured folder, a temporary folder is used. */
export function createSessionWorkspace(configuredFolder: string | undefined): SessionWorkspace {
  let folder = configuredFolder;
  let groups: readonly ProcessGroup[] = [];
  /** True if files of an earlier life could not be removed. */
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
  /** A failed removal is ignored here and reported by the next command, if any. */
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
