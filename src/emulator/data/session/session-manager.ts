import { join } from "node:path";
import type { Clock } from "../../../platform/clock.ts";
import type { Switches } from "../../switches.ts";
import { ManagedSession, type StopResult } from "./managed-session.ts";
import { openSessionJournal } from "./session-journal.ts";
import { createFileLog, memoryLog, resolveSessionPath } from "./session-log.ts";
import type { ServiceSession, SessionOwner } from "./service-session.ts";
import { createSessionWorkspace } from "./session-workspace.ts";

export interface SessionManager {
  /** Uses a session. Starts the session if it has ended or was never started. */
  useSession<Result>(
    owner: SessionOwner,
    id: string,
    use: (session: ServiceSession) => Promise<Result>,
  ): Promise<Result>;
  stop(arn: string, id: string): Promise<StopResult>;
  /** The number of sessions in memory. */
  readonly heldCount: number;
  /** Ends all running work and removes temporary folders. */
  close(): Promise<void>;
}

export interface SessionManagerOptions {
  readonly clock: Clock;
  readonly switches: Switches;
  /** Absent: sessions end with the process. */
  readonly dataDirectory?: string;
}

/** The number of idle sessions in memory if there are files. Without files, a session is removed only after its end. */
export const MAX_IDLE_SESSIONS = 100;

interface SessionEntry {
  readonly opening: Promise<ManagedSession>;
  /** Set when the session is open. */
  session?: ManagedSession;
  /** The number of requests which are using the session. */
  users: number;
}

export function createSessionManager(options: SessionManagerOptions): SessionManager {
  /** In order of use: the last entry is the most recently used. */
  const entries = new Map<string, SessionEntry>();

  const acquireEntry = (arn: string, id: string): [string, SessionEntry] => {
    const key = `${arn}\n${id}`;
    const entry = entries.get(key) ?? {
      opening: openManagedSession({ arn, id, onQuiet: () => evict(key) }, options),
      users: 0,
    };
    entries.delete(key);
    entries.set(key, entry);
    return [key, entry];
  };
  const withSession = async <Result>(
    arn: string,
    id: string,
    use: (session: ManagedSession) => Promise<Result>,
  ): Promise<Result> => {
    const [key, entry] = acquireEntry(arn, id);
    entry.users += 1;
    try {
      entry.session = await entry.opening;
      return await use(entry.session);
    } finally {
      entry.users -= 1;
      evict(key);
    }
  };
  const drop = (key: string, { session }: SessionEntry): void => {
    session?.release();
    entries.delete(key);
  };
  const evict = (key: string): void => {
    const entry = entries.get(key);
    // A session that failed to open is removed too: the next request tries again.
    if (entry !== undefined && isEvictable(entry) && entry.session?.isOver !== false)
      drop(key, entry);
    if (options.dataDirectory === undefined) return;
    for (const [oldest, candidate] of entries) {
      if (entries.size <= MAX_IDLE_SESSIONS) return;
      if (isEvictable(candidate)) drop(oldest, candidate);
    }
  };
  return {
    useSession: (owner, id, use) =>
      withSession(owner.arn, id, async (session) => {
        await session.revive(owner, id);
        return use(session);
      }),
    stop: (arn, id) => withSession(arn, id, (session) => session.stop()),
    get heldCount() {
      return entries.size;
    },
    close: () => closeSessions([...entries.values()]),
  };
}

interface NewSession {
  readonly arn: string;
  readonly id: string;
  readonly onQuiet: () => void;
}

async function openManagedSession(
  { arn, id, onQuiet }: NewSession,
  { clock, switches, dataDirectory }: SessionManagerOptions,
): Promise<ManagedSession> {
  const resolvePath = (folder: string): string | undefined =>
    dataDirectory === undefined
      ? undefined
      : resolveSessionPath(join(dataDirectory, folder), arn, id);
  const file = resolvePath("sessions");
  const log = file === undefined ? memoryLog : createFileLog(`${file}.jsonl`);
  const journal = await openSessionJournal(log);
  const workspace = createSessionWorkspace(resolvePath("workspaces"));
  return new ManagedSession({ journal, workspace, clock, switches, onQuiet });
}

/** Closes the sessions. A session that failed to open needs no close. */
async function closeSessions(entries: readonly SessionEntry[]): Promise<void> {
  const opened = await Promise.allSettled(entries.map(({ opening }) => opening));
  await Promise.all(
    opened.flatMap((candidate) =>
      candidate.status === "fulfilled" ? [candidate.value.close()] : [],
    ),
  );
}

/** True if the session can be removed from memory without losing anything but its cache. */
function isEvictable({ users, session }: SessionEntry): boolean {
  return users === 0 && session?.isIdle !== false;
}
