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
export async function acquireOrJoin(options: OwnershipOptions): Promise<Ownership> {
  const lockOrOwner = await lockOrJoin(options);
  if (lockOrOwner.lock !== undefined) {
    return new DirectoryOwner(options, lockOrOwner.lock).start();
  }
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

/** Runs the sessions of a directory while its lock is held. */
class DirectoryOwner {
  readonly #options: OwnershipOptions;
  readonly #lock: OwnerLock;
  readonly #token = randomToken();
  readonly #gone = new AbortController();
  readonly #sockets = new Set<Socket>();
  #owned: OwnedSessions | undefined;
  #server: Server | undefined;
  #closed: Promise<void> | undefined;
  #stopWatch = (): void => undefined;

  constructor(options: OwnershipOptions, lock: OwnerLock) {
    this.#options = options;
    this.#lock = lock;
  }

  async start(): Promise<Ownership> {
    try {
      this.#watch();
      const owned = await this.#options.start((error) => this.#release(error));
      this.#owned = owned;
      this.#gone.signal.throwIfAborted();
      const { sessions, config } = owned;
      await this.#serve(owned);
      const { pid } = process;
      const closed = this.#gone.signal;
      return { sessions, isOwner: true, pid, config, closed, close: () => this.#close() };
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  /** Accepts other processes: opens the socket, then publishes its address. */
  async #serve({ sessions, config }: OwnedSessions): Promise<void> {
    const { directory, version } = this.#options;
    const token = this.#token;
    // Letters and digits only: the part after the last hyphen identifies this socket.
    const address = resolveLocalSocketPath(directory, token.slice(1, 13));
    const clients = new RemoteClients();
    const served = { sessions, token, version, clients, closing: this.#gone.signal };
    this.#server = await listen(address, (socket) => {
      this.#sockets.add(socket);
      void serveSessions(socket, served).finally(() => this.#sockets.delete(socket));
    });
    const { pid } = process;
    const file: BridgeFile = { address, token, version, pid, ...omitUndefined({ config }) };
    await saveFile(join(directory, "bridge.json"), `${JSON.stringify(file)}\n`);
  }

  #watch(): void {
    if (!this.#lock.isHeld()) {
      this.#release(new Error("owner.lock was removed or replaced"));
      return;
    }
    const { clock } = this.#options;
    this.#stopWatch = clock.schedule(LOCK_CHECK_INTERVAL_MS, () => this.#watch());
  }

  /** Releases the directory after an error with which the sessions cannot continue here. */
  #release(cause: unknown): void {
    const { directory, report } = this.#options;
    const { signal } = this.#gone;
    if (signal.aborted) return;
    // Aborted at once: callers with a failed request then retry with the next owner.
    this.#gone.abort(createReleaseError(directory, cause));
    report(signal.reason);
    // During the start, the `catch` of `start` closes the sessions.
    if (this.#owned !== undefined) this.#close().catch(report);
  }

  #close(): Promise<void> {
    this.#closed ??= this.#letGo();
    return this.#closed;
  }

  async #letGo(): Promise<void> {
    const { directory } = this.#options;
    this.#gone.abort();
    try {
      // After the loss of the lock, the file may already belong to the next owner.
      if ((await readBridgeFile(directory))?.token === this.#token) {
        await rm(join(directory, "bridge.json"), { force: true });
      }
      this.#server?.close();
      for (const socket of this.#sockets) socket.destroy();
      await this.#owned?.close();
    } finally {
      this.#stopWatch();
      this.#lock.release();
    }
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
