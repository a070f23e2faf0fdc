import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import {
  resolveLocalSocketPath,
  removeStaleSockets,
} from "../../platform/files/local-socket-path.ts";
import { randomToken } from "../../platform/random.ts";
import { saveFile } from "../../platform/files/private-files.ts";
import type { Sessions } from "../../session/sessions.ts";
import { readBridgeFile, type BridgeFile } from "./bridge-file.ts";
import type { BridgeOptions } from "../bridge-options.ts";
import {
  checkOwnerConfig,
  type ConfigFingerprint,
  type SelectedConfig,
} from "../../config/selected-config.ts";
import type { OwnerConnection } from "../../session/remote/owner-connection.ts";
import type { OwnerLock } from "../../store/sqlite/file/owner-lock.ts";
import { RemoteClients } from "../../session/remote/remote-clients.ts";
import type { RemoteSessions } from "../../session/remote/remote-sessions.ts";
import { serveSessions } from "../../session/remote/serve-sessions.ts";
import { lockOrJoin, type LockOrJoinOptions } from "./lock-or-join.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface OwnershipOptions extends LockOrJoinOptions, Pick<BridgeOptions, "notice"> {
  /** The configuration that the owner is expected to have. Undefined: any configuration is accepted. */
  readonly config?: SelectedConfig;
  /**
   * Starts running the sessions. Called only if no other process runs them. `onBroken` is called with an error after
   * which the sessions cannot continue in this process.
   */
  start(onBroken: (error: unknown) => void): Promise<OwnedSessions>;
  /** Receives errors without a caller, such as failures of background work. */
  readonly report: (error: unknown) => void;
}

export interface OwnedSessions {
  readonly sessions: Sessions;
  /** The configuration of the agents. Undefined for agents without a configuration. */
  readonly config?: ConfigFingerprint;
  close(): Promise<void>;
}

export interface Ownership extends OwnerConnection {
  readonly isOwner: boolean;
  /** The process that runs the sessions. */
  readonly pid: number;
  /** The configuration of the owner's agents. Undefined for agents without a configuration. */
  readonly config: ConfigFingerprint | undefined;
  close(): Promise<void>;
}

/**
 * Runs the sessions of a directory, or joins the process which already runs them. A directory has one owner at a time:
 * the owner holds a lock, released by the kernel when the process dies. Other processes connect over a socket
 * accessible to this user only.
 */
export async function ownOrJoin(options: OwnershipOptions): Promise<Ownership> {
  const lockOrOwner = await lockOrJoin(options);
  if (lockOrOwner.lock !== undefined) return runAsOwner(options, lockOrOwner.lock);
  const { sessions, owner } = lockOrOwner;
  await checkOwnerAgents(options, sessions, owner);
  return {
    sessions,
    isOwner: false,
    pid: owner.pid,
    config: owner.config,
    closed: sessions.closed,
    close: () => Promise.resolve(sessions.close()),
  };
}

async function checkOwnerAgents(
  { config, notice }: OwnershipOptions,
  sessions: RemoteSessions,
  owner: BridgeFile,
): Promise<void> {
  if (config === undefined) return;
  try {
    const line = await checkOwnerConfig(config, owner);
    if (line !== undefined) notice?.(line);
  } catch (error) {
    sessions.close();
    throw error;
  }
}

async function runAsOwner(options: OwnershipOptions, lock: OwnerLock): Promise<Ownership> {
  const { directory, version, clock, report } = options;
  const token = randomToken();
  // Letters and digits only: the part after the last hyphen identifies this socket.
  const address = resolveLocalSocketPath(directory, token.slice(1, 13));
  const gone = new AbortController();
  const sockets = new Set<Socket>();
  let owned: OwnedSessions | undefined;
  let server: Server | undefined;
  let closed: Promise<void> | undefined;

  const letGo = async (): Promise<void> => {
    gone.abort();
    try {
      // After the loss of the lock, the file may already belong to the next owner.
      if ((await readBridgeFile(directory))?.token === token) {
        await rm(join(directory, "bridge.json"), { force: true });
      }
      server?.close();
      for (const socket of sockets) socket.destroy();
      await owned?.close();
    } finally {
      stopWatch();
      lock.release();
    }
  };
  const close = (): Promise<void> => (closed ??= letGo());
  const closeReporting = (): Promise<void> => close().catch(report);
  const broken = (error: unknown): void => {
    if (gone.signal.aborted) return;
    // Aborted at once: callers with a failed request then retry with the next owner.
    gone.abort(createReleaseError(directory, error));
    report(gone.signal.reason);
    // During the start, the `catch` below closes the sessions.
    if (owned !== undefined) void closeReporting();
  };

  let stopWatch = (): void => undefined;
  const watch = (): void => {
    if (!lock.isHeld()) return broken(new Error("owner.lock was removed or replaced"));
    stopWatch = clock.schedule(LOCK_CHECK_INTERVAL_MS, watch);
  };

  try {
    watch();
    owned = await options.start(broken);
    gone.signal.throwIfAborted();
    const { sessions, config } = owned;
    const clients = new RemoteClients();
    const served = { sessions, token, version, clients, closing: gone.signal };
    server = await listen(address, (socket) => {
      sockets.add(socket);
      void serveSessions(socket, served).finally(() => sockets.delete(socket));
    });
    const file: BridgeFile = {
      address,
      token,
      version,
      pid: process.pid,
      ...omitUndefined({ config }),
    };
    await saveFile(join(directory, "bridge.json"), `${JSON.stringify(file)}\n`);
    return { sessions, isOwner: true, pid: process.pid, config, closed: gone.signal, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Milliseconds for which two processes may both believe to own a directory after its lock file was removed. */
const LOCK_CHECK_INTERVAL_MS = 1000;

function createReleaseError(directory: string, cause: unknown): SpanlineError {
  const message = `This process can no longer write the sessions in ${directory} and releases them for the next process: ${formatThrown(cause)}`;
  return new SpanlineError("store_failed", message, { details: { directory }, cause });
}

async function listen(address: string, onConnection: (socket: Socket) => void): Promise<Server> {
  // Old sockets belong to dead processes, since this process holds the lock.
  removeStaleSockets(address);
  const server = createServer(onConnection);
  server.listen(address);
  await once(server, "listening");
  if (!address.startsWith("\\\\")) await chmod(address, 0o600);
  return server;
}
