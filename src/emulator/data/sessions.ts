import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import type { Switches } from "../switches.ts";
import { HeldSession, type Stopped } from "./held-session.ts";
import { openJournal } from "./session-journal.ts";
import { fileLog, forgetfulLog, sessionPath } from "./session-log.ts";
import type { Session, SessionOwner } from "./session.ts";
import { workspace } from "./workspace.ts";

export interface Sessions {
  /** Uses the session as it stands. One that ended, or that nobody started, begins here. */
  enter<Result>(
    owner: SessionOwner,
    id: string,
    use: (session: Session) => Promise<Result>,
  ): Promise<Result>;
  stop(arn: string, id: string): Promise<Stopped>;
  /** How many are in memory. */
  readonly held: number;
  /** Ends what runs, and throws away the folders that only lasted as long as the process. */
  close(): Promise<void>;
}

export interface SessionsOptions {
  readonly clock: Clock;
  readonly switches: Switches;
  /** Absent: sessions last as long as the process. */
  readonly dataDirectory?: string;
}

/** With files behind them, so many sessions that nobody uses stay in memory. Without, one goes when it has ended. */
export const HELD_SESSIONS = 100;

interface Entry {
  readonly opening: Promise<HeldSession>;
  /** Once it is open. */
  session?: HeldSession;
  /** Requests that are about to do something with it. */
  users: number;
}

export function sessions({ clock, switches, dataDirectory }: SessionsOptions): Sessions {
  /** The one that was used last is the last. */
  const held = new Map<string, Entry>();

  const open = async (arn: string, id: string, quiet: () => void): Promise<HeldSession> => {
    const kept = (folder: string): string | undefined =>
      dataDirectory === undefined ? undefined : sessionPath(join(dataDirectory, folder), arn, id);
    const file = kept("sessions");
    const log = file === undefined ? forgetfulLog : fileLog(`${file}.jsonl`);
    const journal = await openJournal(log);
    const parts = { journal, workspace: workspace(kept("workspaces")), clock, switches };
    return new HeldSession({ ...parts, quiet });
  };
  const hold = (arn: string, id: string): [string, Entry] => {
    const key = `${arn}\n${id}`;
    const entry = held.get(key) ?? { opening: open(arn, id, () => letGo(key)), users: 0 };
    held.delete(key);
    held.set(key, entry);
    return [key, entry];
  };
  const using = async <Result>(
    arn: string,
    id: string,
    use: (session: HeldSession) => Promise<Result>,
  ): Promise<Result> => {
    const [key, entry] = hold(arn, id);
    entry.users += 1;
    try {
      entry.session = await entry.opening;
      return await use(entry.session);
    } finally {
      entry.users -= 1;
      letGo(key);
    }
  };
  const drop = (key: string, { session }: Entry): void => {
    session?.letGo();
    held.delete(key);
  };
  const letGo = (key: string): void => {
    const entry = held.get(key);
    // One that could not be opened is tried again by whoever asks for it next.
    if (entry !== undefined && isFree(entry) && entry.session?.isOver !== false) drop(key, entry);
    if (dataDirectory === undefined) return;
    for (const [oldest, one] of held) {
      if (held.size <= HELD_SESSIONS) return;
      if (isFree(one)) drop(oldest, one);
    }
  };
  return {
    enter: (owner, id, use) =>
      using(owner.arn, id, async (session) => {
        await session.revive(owner, id);
        return use(session);
      }),
    stop: (arn, id) => using(arn, id, (session) => session.stop()),
    get held() {
      return held.size;
    },
    async close() {
      const opened = await Promise.allSettled([...held.values()].map(({ opening }) => opening));
      await Promise.all(
        opened.flatMap((one) => (one.status === "fulfilled" ? [one.value.close()] : [])),
      );
    },
  };
}

/** Whether nobody would miss it but by its log. */
function isFree({ users, session }: Entry): boolean {
  return users === 0 && session?.isIdle !== false;
}
