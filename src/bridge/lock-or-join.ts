import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { guardCall } from "../async/call-guard.ts";
import { pause } from "../async/pause.ts";
import { SpanlineError } from "../domain/errors.ts";
import type { SteadyClock } from "../platform/clock.ts";
import { takeOwnerLock, type OwnerLock } from "../store/sqlite/owner-lock.ts";
import { readBridgeFile, type BridgeFile } from "./bridge-file.ts";
import { directoryProblem, expectDirectory, prepareDirectory } from "./data-directory.ts";
import { OwnerGoneError } from "./link/owner-gone-error.ts";
import { remoteSessions, type RemoteSessions } from "./link/remote-sessions.ts";

export interface JoinOptions {
  readonly directory: string;
  readonly version: string;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  /** The directory was in use here before: one that is gone by now is an error, and not created. */
  readonly isAgain?: boolean;
  /** Told once, when another process has the directory and does not answer. */
  readonly waiting?: (owner: BridgeFile | undefined) => void;
}

/** The directory's lock, to be released; or the sessions of the process that has it. */
export type LockOrJoin =
  | { readonly lock: OwnerLock }
  | { readonly lock?: undefined; readonly sessions: RemoteSessions; readonly owner: BridgeFile };

/** Waits until nobody has the directory, or until whoever has it answers. */
export async function lockOrJoin(options: JoinOptions): Promise<LockOrJoin> {
  const { directory, clock, signal, isAgain = false } = options;
  if (!isAgain) await prepareDirectory(directory);
  const start = clock.monotonic();
  let isTold = false;
  for (;;) {
    signal.throwIfAborted();
    if (isAgain) await expectDirectory(directory);
    const lock = await takeLock(directory);
    if (lock !== undefined) return { lock };
    const file = await readBridgeFile(directory);
    const sessions = file === undefined ? undefined : await joinOwner(file, options);
    if (file !== undefined && sessions !== undefined) return { sessions, owner: file };
    if (!isTold && clock.monotonic() - start >= PATIENCE_MS) {
      isTold = true;
      options.waiting?.(file);
    }
    // It has the lock, and does not listen yet, or not any more, or not at the moment.
    await pause(clock, ROUND_MS, signal);
  }
}

const ROUND_MS = 50;
const PATIENCE_MS = 5000;
/** How long an owner may take to answer one that joins: one that is stopped accepts connections all the same. */
const HELLO_MS = 2000;

async function takeLock(directory: string): Promise<OwnerLock | undefined> {
  try {
    return await takeOwnerLock(join(directory, "owner.lock"));
  } catch (error) {
    throw await directoryProblem("keep", directory, error);
  }
}

/** Undefined when nobody answers: what the file says is a dead process's, or that of one that is stopped. */
async function joinOwner(
  { address, token }: BridgeFile,
  { version, clock, signal }: JoinOptions,
): Promise<RemoteSessions | undefined> {
  const guard = guardCall(clock, signal, { limit: "hello", milliseconds: HELLO_MS });
  const socket = connect(address);
  const stop = (): void => void socket.destroy();
  guard.signal.addEventListener("abort", stop, { once: true });
  try {
    await once(socket, "connect", { signal: guard.signal });
    return await remoteSessions(socket, { token, version });
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    if (error instanceof SpanlineError) throw error;
    if (error instanceof OwnerGoneError || guard.reached !== null || isRefused(error))
      return undefined;
    throw error;
  } finally {
    guard.signal.removeEventListener("abort", stop);
    guard.release();
  }
}

function isRefused(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REFUSALS.has(code);
}

/** `EAGAIN` is a queue that is full: its process is stopped, and many wait for it. */
const REFUSALS: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "ECONNRESET",
  "EPIPE",
  "EAGAIN",
]);
