import { pause } from "../async/pause.ts";
import { toDiskFullError } from "../domain/errors.ts";
import type { Sessions } from "../session/sessions.ts";
import type { BridgeOptions } from "./bridge-options.ts";
import { createResilientSessions } from "../session/remote/resilient-sessions.ts";
import type { Ownership, OwnershipOptions } from "./owner/ownership.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

export interface Bridge {
  /** Usable immediately; requests wait for an owner and survive a change of the owner. */
  readonly sessions: Sessions;
  /** Resolves when a process runs the sessions: this process, or another one with its pid. */
  getOwnership(): Promise<Pick<Ownership, "isOwner" | "pid" | "config">>;
  close(): Promise<void>;
}

/**
 * Opens the sessions of a directory. This process runs them if no other process does, now or after the other process
 * ended.
 */
export function openBridge(options: BridgeOptions): Bridge {
  const { directory, keysDirectory, clock } = options;
  const end = new AbortController();
  const { signal } = end;
  let ownership: Ownership | undefined;
  let joining: Promise<Ownership> | undefined;
  const connect = async (): Promise<Ownership> => {
    // Loaded here, so an editor gets its first response before the modules for running sessions are loaded.
    const { claimDirectory } = await import("./owner/data-directory.ts");
    const { acquireOrJoin } = await import("./owner/ownership.ts");
    const isRetry = ownership !== undefined;
    if (keysDirectory !== undefined && !isRetry) await claimDirectory(directory, keysDirectory);
    joining = acquireOrJoin(createOwnershipOptions(options, signal, isRetry));
    ownership = await joining;
    const joinNext = (): void => void findNextOwner(sessions, signal, options);
    ownership.closed.addEventListener("abort", joinNext, { once: true });
    return ownership;
  };
  const connectOrExplain = (): Promise<Ownership> =>
    connect().catch((error: unknown) => {
      throw toDiskFullError(error) ?? error;
    });
  const sessions = createResilientSessions({ clock, connect: connectOrExplain });
  return {
    sessions,
    async getOwnership() {
      await sessions.list({ limit: 1 });
      const { isOwner = false, pid = process.pid, config } = ownership ?? {};
      return { isOwner, pid, config };
    },
    async close() {
      end.abort();
      const last = await joining?.catch(() => undefined);
      await last?.close();
    },
  };
}

function createOwnershipOptions(
  options: BridgeOptions,
  signal: AbortSignal,
  isRetry: boolean,
): OwnershipOptions {
  const { directory, version, clock, onWaiting, config, notice, report } = options;
  return {
    directory,
    version,
    clock,
    signal,
    // The modules for running sessions are loaded only in the owner.
    start: async (broken) => {
      const { startSessions } = await import("./start-sessions.ts");
      return startSessions(options, broken, { create: !isRetry });
    },
    isRetry,
    report,
    // Only the first owner's configuration is compared. After that, this process continues with any owner.
    ...(config !== undefined && !isRetry && { config }),
    ...omitUndefined({ onWaiting, notice }),
  };
}

/** Finds the next owner, so interrupted turns continue even if this process makes no request. */
async function findNextOwner(
  sessions: Sessions,
  signal: AbortSignal,
  { clock, report }: BridgeOptions,
): Promise<void> {
  for (let pauseMs = FIRST_RETRY_DELAY_MS; !signal.aborted; pauseMs = nextRetryDelay(pauseMs)) {
    try {
      await sessions.list({ limit: 1 });
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (pauseMs === FIRST_RETRY_DELAY_MS) report(error);
      await pause(clock, pauseMs, signal).catch(() => undefined);
    }
  }
}

/** Milliseconds. A full disk or a removed directory may recover after a while. */
const FIRST_RETRY_DELAY_MS = 100;
const MAX_RETRY_DELAY_MS = 5000;

function nextRetryDelay(pauseMs: number): number {
  return Math.min(2 * pauseMs, MAX_RETRY_DELAY_MS);
}
