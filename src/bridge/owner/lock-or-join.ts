import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { guardInvocation } from "../../async/invocation-guard.ts";
import { pause } from "../../async/pause.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { acquireOwnerLock, type OwnerLock } from "../../store/sqlite/file/owner-lock.ts";
import { readBridgeFile, type BridgeFile } from "./bridge-file.ts";
import { createDirectoryError, requireDirectory, prepareDirectory } from "./data-directory.ts";
import { OwnerGoneError } from "../../session/remote/owner-connection.ts";
import { connectToOwner, type RemoteSessions } from "../../session/remote/remote-sessions.ts";

export interface LockOrJoinOptions {
  readonly directory: string;
  readonly version: string;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  /** True if the directory was in use here before. A missing directory is then an error and is not created. */
  readonly isRetry?: boolean;
  /** Called once if another process owns the directory and does not respond. */
  readonly onWaiting?: (owner: BridgeFile | undefined) => void;
}

/** The lock of the directory, which the caller must release, or the sessions of its owner. */
export type LockOrJoin =
  | { readonly lock: OwnerLock }
  | { readonly lock?: undefined; readonly sessions: RemoteSessions; readonly owner: BridgeFile };

/** Waits until the directory is free, or until its owner responds. */
export async function lockOrJoin(options: LockOrJoinOptions): Promise<LockOrJoin> {
  const { directory, clock, signal, isRetry = false } = options;
  if (!isRetry) await prepareDirectory(directory);
  const start = clock.monotonic();
  let hasNotified = false;
  for (;;) {
    signal.throwIfAborted();
    if (isRetry) await requireDirectory(directory);
    const lock = await acquireLock(directory);
    if (lock !== undefined) return { lock };
    const file = await readBridgeFile(directory);
    const sessions = file === undefined ? undefined : await joinOwner(file, options);
    if (file !== undefined && sessions !== undefined) return { sessions, owner: file };
    if (!hasNotified && clock.monotonic() - start >= NOTIFY_AFTER_MS) {
      hasNotified = true;
      options.onWaiting?.(file);
    }
    // The owner holds the lock, but is starting, stopping or suspended.
    await pause(clock, RETRY_INTERVAL_MS, signal);
  }
}

const RETRY_INTERVAL_MS = 50;
const NOTIFY_AFTER_MS = 5000;
/**
 * Milliseconds for the owner's greeting. A suspended process still accepts connections, so a connection alone proves
 * nothing.
 */
const HELLO_TIMEOUT_MS = 2000;

async function acquireLock(directory: string): Promise<OwnerLock | undefined> {
  try {
    return await acquireOwnerLock(join(directory, "owner.lock"));
  } catch (error) {
    throw await createDirectoryError("keep", directory, error);
  }
}

/** Connects to the owner. Undefined without a response: the file belongs to a dead or a suspended process. */
async function joinOwner(
  { address, token }: BridgeFile,
  { version, clock, signal }: LockOrJoinOptions,
): Promise<RemoteSessions | undefined> {
  const guard = guardInvocation(clock, signal, { limit: "hello", milliseconds: HELLO_TIMEOUT_MS });
  const socket = connect(address);
  const stop = (): void => void socket.destroy();
  guard.signal.addEventListener("abort", stop, { once: true });
  try {
    await once(socket, "connect", { signal: guard.signal });
    return await connectToOwner(socket, { token, version });
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    if (error instanceof SpanlineError) throw error;
    if (
      error instanceof OwnerGoneError ||
      guard.reachedLimit !== null ||
      isConnectionRefused(error)
    )
      return undefined;
    throw error;
  } finally {
    guard.signal.removeEventListener("abort", stop);
    guard.release();
  }
}

function isConnectionRefused(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return CONNECTION_ERROR_CODES.has(code);
}

/** `EAGAIN`: the accept queue is full, because the owner is suspended and many processes wait for it. */
const CONNECTION_ERROR_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "ECONNRESET",
  "EPIPE",
  "EAGAIN",
]);
