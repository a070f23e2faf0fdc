import { waitWithTimeout } from "../../async/pause.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ChangedFile } from "../session-input.ts";
import type { SessionState } from "../session-state.ts";
import { readReminderSettings } from "../steering/runtime-reminders.ts";
import type { Agent } from "./agent/agent.ts";

interface ChangedFilesContext {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly workingDirectory?: string;
  readonly hasEditor: boolean;
}

/**
 * Compares the files which the agent has read or written with the disk, before an invocation. Empty with an editor, whose
 * unsaved text differs from the disk.
 */
export async function findChangedFiles(
  { steering, folders }: SessionState,
  { agent, clock, workingDirectory, hasEditor }: ChangedFilesContext,
): Promise<readonly ChangedFile[]> {
  const { files } = steering;
  if (hasEditor) return [];
  if (!readReminderSettings(agent.spec).changedFiles || agent.digestFiles === undefined) return [];
  const paths = files.map(({ path }) => path);
  const work = agent.digestFiles(paths, { folders, ...omitUndefined({ workingDirectory }) });
  // Without a workspace folder nothing can be compared.
  const digests = await waitWithTimeout(clock, TIMEOUT_MS, work).catch(() => "late" as const);
  if (digests === "late") return [];
  return files.flatMap(({ path, sha256 }) => {
    const digest = digests.get(path);
    return digest === undefined || digest === sha256 ? [] : [{ path, sha256: digest }];
  });
}

/** Milliseconds. The session waits for the comparison, and a network disk may be slow or gone. */
const TIMEOUT_MS = 500;
