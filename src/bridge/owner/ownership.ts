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
  /** The configuration that an owner should have; absent where any will do. */
  readonly config?: SelectedConfig;
  /** Begins to run the sessions of the directory: called when nobody else does. `broken` is for what they cannot go on after. */
  start(onBroken: (error: unknown) => void): Promise<OwnedSessions>;
  /** Something went wrong that no caller will hear of. */
  readonly report: (error: unknown) => void;
}

export interface OwnedSessions {
  readonly sessions: Sessions;
  /** Where its agents come from; absent for agents of no configuration. */
  readonly config?: ConfigFingerprint;
  close(): Promise<void>;
}

export interface Ownership extends OwnerConnection {
  readonly isOwner: boolean;
  /** The process that runs the sessions. */
  readonly pid: number;
  /** Where its agents come from; undefined for agents of no configuration. */
  readonly config: ConfigFingerprint | undefined;
  close(): Promise<void>;
}

/**
 * Runs the sessions of a directory, or joins the process that does. One process at a time owns a directory, by a lock that
 * the kernel frees when it dies; the others talk to it over a socket that only this user can open.
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
  // Letters and digits alone: what is behind the last hyphen is its own.
  const address = resolveLocalSocketPath(directory, token.slice(1, 13));
  const gone = new AbortController();
  const sockets = new Set<Socket>();
  let owned: OwnedSessions | undefined;
  let server: Server | undefined;
  let closed: Promise<void> | undefined;

  const letGo = async (): Promise<void> => {
    gone.abort();
    try {
      // Of a lock that was taken from us, the file may be the next owner's already.
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
    // At once, so that whoever is refused because of it knows that the next owner is to be asked.
    gone.abort(createReleaseError(directory, error));
    report(gone.signal.reason);
    // While it starts it is closed below.
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

/** How long two processes may both think that they own a directory whose lock somebody removed. */
const LOCK_CHECK_INTERVAL_MS = 1000;

function createReleaseError(directory: string, cause: unknown): SpanlineError {
  const message = `The sessions in ${directory} can no longer be written here and are let go, for the next process to take up: ${formatThrown(cause)}`;
  return new SpanlineError("store_failed", message, { details: { directory }, cause });
}

async function listen(address: string, onConnection: (socket: Socket) => void): Promise<Server> {
  // Whoever left some there is dead: the lock is ours.
  removeStaleSockets(address);
  const server = createServer(onConnection);
  server.listen(address);
  await once(server, "listening");
  if (!address.startsWith("\\\\")) await chmod(address, 0o600);
  return server;
}
