import { pause } from "../async/pause.ts";
import { toDiskFullError } from "../domain/errors.ts";
import type { Sessions } from "../session/sessions.ts";
import type { BridgeOptions } from "./bridge-options.ts";
import { createResilientSessions } from "../session/remote/resilient-sessions.ts";
import type { Ownership } from "./owner/ownership.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

export interface Bridge {
  /** Usable at once, and through every change of owner. */
  readonly sessions: Sessions;
  /** Resolves when there is somebody to run the sessions: this process, or another, by its number. */
  getOwnership(): Promise<Pick<Ownership, "isOwner" | "pid" | "config">>;
  close(): Promise<void>;
}

/** The sessions of a directory: run here when nobody else runs them, now or later. */
export function openBridge(options: BridgeOptions): Bridge {
  const { directory, keysDirectory, version, clock, onWaiting, config, notice, report } = options;
  const end = new AbortController();
  let ownership: Ownership | undefined;
  let joining: Promise<Ownership> | undefined;
  const connect = async (): Promise<Ownership> => {
    // An editor is answered before there is anybody to run its sessions.
    const { claimDirectory } = await import("./owner/data-directory.ts");
    const { ownOrJoin } = await import("./owner/ownership.ts");
    const isRetry = ownership !== undefined;
    if (keysDirectory !== undefined && !isRetry) await claimDirectory(directory, keysDirectory);
    joining = ownOrJoin({
      directory,
      version,
      clock,
      signal: end.signal,
      // Only the process that runs the sessions needs what runs them.
      start: async (broken) => {
        const { startSessions } = await import("./start-sessions.ts");
        return startSessions(options, broken, { create: !isRetry });
      },
      isRetry,
      report,
      ...omitUndefined({ onWaiting }),
      // Whoever has begun goes on, whatever the next owner has: only the first is looked at.
      ...(config !== undefined && ownership === undefined && { config }),
      ...omitUndefined({ notice }),
    });
    ownership = await joining;
    ownership.closed.addEventListener("abort", () => void joinNext(), { once: true });
    return ownership;
  };
  const connectOrExplain = (): Promise<Ownership> =>
    connect().catch((error: unknown) => {
      throw toDiskFullError(error) ?? error;
    });
  const sessions = createResilientSessions({ clock, connect: connectOrExplain });
  /** Turns that were under way go on, also when nobody here looks at them. */
  const joinNext = async (): Promise<void> => {
    for (
      let pauseMs = FIRST_RETRY_DELAY_MS;
      !end.signal.aborted;
      pauseMs = nextRetryDelay(pauseMs)
    ) {
      try {
        await sessions.list({ limit: 1 });
        return;
      } catch (error) {
        if (end.signal.aborted) return;
        if (pauseMs === FIRST_RETRY_DELAY_MS) report(error);
        await pause(clock, pauseMs, end.signal).catch(() => undefined);
      }
    }
  };
  return {
    sessions,
    async getOwnership() {
      await sessions.list({ limit: 1 });
      const { isOwner = false, pid = process.pid, config: selectedConfig } = ownership ?? {};
      return { isOwner, pid, config: selectedConfig };
    },
    async close() {
      end.abort();
      const last = await joining?.catch(() => undefined);
      await last?.close();
    },
  };
}

/** A disk that is full, or a directory that is gone, may take a while to come back. */
const FIRST_RETRY_DELAY_MS = 100;
const MAX_RETRY_DELAY_MS = 5000;

function nextRetryDelay(pauseMs: number): number {
  return Math.min(2 * pauseMs, MAX_RETRY_DELAY_MS);
}
