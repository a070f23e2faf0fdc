import type { SteadyClock } from "../../platform/clock.ts";
import type { Driver } from "./driver.ts";

/** Limits of sessions in memory. Busy sessions are counted but never evicted. */
export interface MemoryLimits {
  readonly sessions: number;
  /** Sum over all sessions, as estimated by `Driver.memoryBytes`. The most recently used session may exceed it. */
  readonly bytes: number;
}

export interface EvictionOptions {
  readonly clock: SteadyClock;
  /** Milliseconds. A session unused for this long is evicted. */
  readonly idleMs: number;
  readonly limits: MemoryLimits;
  /** Removes a session from memory. Must call `remove`. */
  readonly evict: (sessionId: string) => void;
}

type IdleDriver = Pick<Driver, "idleMs" | "memoryBytes">;

/** Chooses the sessions to evict: long-idle ones, and the least recently used beyond the limits. */
export interface IdleEviction {
  /** The session is in memory and in use. */
  use(sessionId: string): void;
  /** The session may be evicted from now on. */
  rest(sessionId: string, driver: IdleDriver): void;
  /** The session is no longer in memory. */
  remove(sessionId: string): void;
  stop(): void;
}

export function createIdleEviction({
  clock,
  idleMs,
  limits,
  evict,
}: EvictionOptions): IdleEviction {
  const sizes = createSessionSizes();
  /** The least recently used session is the first. */
  const idle = new Map<string, { readonly since: number; readonly idleMs: number }>();
  let stopTimer: (() => void) | undefined;
  let isStopped = false;

  const trim = (): void => {
    for (const sessionId of idle.keys()) {
      const isOverBytes = sizes.totalBytes > limits.bytes && idle.size > 1;
      if (sizes.count <= limits.sessions && !isOverBytes) return;
      evict(sessionId);
    }
  };
  const sweep = (): void => {
    stopTimer = undefined;
    const now = clock.monotonic();
    for (const [sessionId, { since, idleMs: patience }] of idle)
      if (now - since >= patience) evict(sessionId);
    if (idle.size > 0) schedule();
  };
  const schedule = (): void => {
    if (!isStopped) stopTimer ??= clock.schedule(idleMs, sweep);
  };

  return {
    use(sessionId) {
      idle.delete(sessionId);
      if (sizes.has(sessionId)) return;
      sizes.set(sessionId, 0);
      trim();
    },
    rest(sessionId, driver) {
      sizes.set(sessionId, driver.memoryBytes);
      idle.delete(sessionId);
      const patience = Math.max(idleMs, driver.idleMs ?? idleMs);
      idle.set(sessionId, { since: clock.monotonic(), idleMs: patience });
      schedule();
      trim();
    },
    remove(sessionId) {
      idle.delete(sessionId);
      sizes.remove(sessionId);
    },
    stop() {
      isStopped = true;
      stopTimer?.();
      stopTimer = undefined;
    },
  };
}

/** Estimated bytes of every session in memory. */
interface SessionSizes {
  readonly count: number;
  readonly totalBytes: number;
  has(sessionId: string): boolean;
  set(sessionId: string, bytes: number): void;
  remove(sessionId: string): void;
}

function createSessionSizes(): SessionSizes {
  const sizes = new Map<string, number>();
  let totalBytes = 0;
  return {
    get count() {
      return sizes.size;
    },
    get totalBytes() {
      return totalBytes;
    },
    has: (sessionId) => sizes.has(sessionId),
    set(sessionId, bytes) {
      totalBytes += bytes - (sizes.get(sessionId) ?? 0);
      sizes.set(sessionId, bytes);
    },
    remove(sessionId) {
      totalBytes -= sizes.get(sessionId) ?? 0;
      sizes.delete(sessionId);
    },
  };
}
