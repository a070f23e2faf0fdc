import { join } from "node:path";
import type { Clock } from "../../../platform/clock.ts";
import type { Switches } from "../../switches.ts";
import { ManagedSession, type StopResult } from "./managed-session.ts";
import { openSessionJournal } from "./session-journal.ts";
import { createFileLog, memoryLog, resolveSessionPath } from "./session-log.ts";
import type { ServiceSession, SessionOwner } from "./service-session.ts";
import { createSessionWorkspace } from "./session-workspace.ts";

export interface SessionManager {
  /** Uses the session as it stands. One that ended, or that nobody started, begins here. */
  useSession<Result>(
    owner: SessionOwner,
    id: string,
    use: (session: ServiceSession) => Promise<Result>,
  ): Promise<Result>;
  stop(arn: string, id: string): Promise<StopResult>;
  /** How many are in memory. */
  readonly heldCount: number;
  /** Ends what runs, and throws away the folders that only lasted as long as the process. */
  close(): Promise<void>;
}

export interface SessionManagerOptions {
  readonly clock: Clock;
  readonly switches: Switches;
  /** Absent: sessions last as long as the process. */
  readonly dataDirectory?: string;
}

/** With files behind them, so many sessions that nobody uses stay in memory. Without, one goes when it has ended. */
export const MAX_IDLE_SESSIONS = 100;

interface SessionEntry {
  readonly opening: Promise<ManagedSession>;
  /** Once it is open. */
  session?: ManagedSession;
  /** Requests that are about to do something with it. */
  users: number;
}

export function createSessionManager({
  clock,
  switches,
  dataDirectory,
}: SessionManagerOptions): SessionManager {
  /** The one that was used last is the last. */
  const entries = new Map<string, SessionEntry>();

  const open = async (arn: string, id: string, onQuiet: () => void): Promise<ManagedSession> => {
    const resolvePath = (folder: string): string | undefined =>
      dataDirectory === undefined
        ? undefined
        : resolveSessionPath(join(dataDirectory, folder), arn, id);
    const file = resolvePath("sessions");
    const log = file === undefined ? memoryLog : createFileLog(`${file}.jsonl`);
    const journal = await openSessionJournal(log);
    const parts = {
      journal,
      workspace: createSessionWorkspace(resolvePath("workspaces")),
      clock,
      switches,
    };
    return new ManagedSession({ ...parts, onQuiet });
  };
  const acquireEntry = (arn: string, id: string): [string, SessionEntry] => {
    const key = `${arn}\n${id}`;
    const entry = entries.get(key) ?? { opening: open(arn, id, () => evict(key)), users: 0 };
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
    // One that could not be opened is tried again by whoever asks for it next.
    if (entry !== undefined && isEvictable(entry) && entry.session?.isOver !== false)
      drop(key, entry);
    if (dataDirectory === undefined) return;
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
    async close() {
      const opened = await Promise.allSettled([...entries.values()].map(({ opening }) => opening));
      await Promise.all(
        opened.flatMap((candidate) =>
          candidate.status === "fulfilled" ? [candidate.value.close()] : [],
        ),
      );
    },
  };
}

/** Whether nobody would miss it but by its log. */
function isEvictable({ users, session }: SessionEntry): boolean {
  return users === 0 && session?.isIdle !== false;
}
