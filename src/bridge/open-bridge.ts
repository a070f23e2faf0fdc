import type { Sessions } from "../session/sessions.ts";
import type { BridgeOptions } from "./bridge-options.ts";
import { joinedSessions } from "./link/joined-sessions.ts";
import { ownOrJoin, type Ownership } from "./ownership.ts";

export interface Bridge {
  /** Usable at once, and through every change of owner. */
  readonly sessions: Sessions;
  /** Resolves when there is somebody to run the sessions: this process, or another. */
  joined(): Promise<{ readonly isOwner: boolean }>;
  close(): Promise<void>;
}

/** The sessions of a directory: run here when nobody else runs them, now or later. */
export function openBridge(options: BridgeOptions): Bridge {
  const { directory, version, clock, waiting } = options;
  const end = new AbortController();
  let ownership: Ownership | undefined;
  const join = async (): Promise<Ownership> => {
    ownership = await ownOrJoin({
      directory,
      version,
      clock,
      signal: end.signal,
      // Only the process that runs the sessions needs what runs them.
      start: async () => {
        const { startSessions } = await import("./start-sessions.ts");
        return startSessions(options);
      },
      ...(waiting !== undefined && { waiting }),
    });
    return ownership;
  };
  const sessions = joinedSessions({ clock, join });
  return {
    sessions,
    async joined() {
      await sessions.list({ limit: 1 });
      return { isOwner: ownership?.isOwner === true };
    },
    async close() {
      end.abort();
      await ownership?.close();
    },
  };
}
