import { once } from "node:events";
import { chmod, mkdir, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { pause } from "../async/pause.ts";
import { SpanlineError } from "../domain/errors.ts";
import type { Clock } from "../platform/clock.ts";
import { localSocketPath } from "../platform/local-socket-path.ts";
import { randomToken } from "../platform/random.ts";
import { saveFile } from "../platform/saved-file.ts";
import type { Sessions } from "../session/sessions.ts";
import { takeOwnerLock } from "../store/sqlite/owner-lock.ts";
import { readBridgeFile, type BridgeFile } from "./bridge-file.ts";
import type { Joined } from "./link/joined-sessions.ts";
import { OwnerGoneError, remoteSessions } from "./link/remote-sessions.ts";
import { serveSessions } from "./link/serve-sessions.ts";

export interface OwnershipOptions {
  readonly directory: string;
  readonly version: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Begins to run the sessions of the directory: called when nobody else does. */
  start(): Promise<OwnedSessions>;
  /** Told when the owner is there and does not answer. */
  readonly waiting?: (owner: BridgeFile | undefined) => void;
}

export interface OwnedSessions {
  readonly sessions: Sessions;
  close(): Promise<void>;
}

export interface Ownership extends Joined {
  readonly isOwner: boolean;
  close(): Promise<void>;
}

/**
 * Runs the sessions of a directory, or joins the process that does. One process at a time owns a directory, by a lock that
 * the kernel frees when it dies; the others talk to it over a socket that only this user can open.
 */
export async function ownOrJoin(options: OwnershipOptions): Promise<Ownership> {
  const { directory, clock, signal } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (let round = 0; ; round++) {
    signal.throwIfAborted();
    const release = await takeOwnerLock(join(directory, "owner.lock"));
    if (release !== undefined) return own(options, release);
    const file = await readBridgeFile(directory);
    const joined = file === undefined ? undefined : await joinOwner(file, options);
    if (joined !== undefined) return joined;
    if (round === PATIENT_ROUNDS) options.waiting?.(file);
    // It has the lock, and does not listen yet, or not any more.
    await pause(clock, ROUND_MS, signal);
  }
}

const ROUND_MS = 50;
const PATIENT_ROUNDS = 100;

async function own(options: OwnershipOptions, release: () => void): Promise<Ownership> {
  const { directory, version } = options;
  const token = randomToken();
  const address = localSocketPath(directory);
  let owned: OwnedSessions | undefined;
  let server: Server | undefined;
  try {
    owned = await options.start();
    const { sessions } = owned;
    const sockets = new Set<Socket>();
    server = await listen(address, (socket) => {
      sockets.add(socket);
      void serveSessions(socket, { sessions, token, version }).finally(() =>
        sockets.delete(socket),
      );
    });
    const file: BridgeFile = { address, token, version, pid: process.pid };
    await saveFile(join(directory, "bridge.json"), `${JSON.stringify(file)}\n`);
    return ownership({ sessions, owned, server, sockets, release, directory });
  } catch (error) {
    server?.close();
    await owned?.close();
    release();
    throw error;
  }
}

interface Parts {
  readonly sessions: Sessions;
  readonly owned: OwnedSessions;
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
  readonly directory: string;
  readonly release: () => void;
}

function ownership({ sessions, owned, server, sockets, release, directory }: Parts): Ownership {
  const gone = new AbortController();
  return {
    sessions,
    isOwner: true,
    gone: gone.signal,
    async close() {
      gone.abort();
      await rm(join(directory, "bridge.json"), { force: true });
      server.close();
      for (const socket of sockets) socket.destroy();
      await owned.close();
      release();
    },
  };
}

async function listen(address: string, take: (socket: Socket) => void): Promise<Server> {
  // Whoever left it there is dead: the lock is ours.
  await rm(address, { force: true });
  const server = createServer(take);
  server.listen(address);
  await once(server, "listening");
  if (!address.startsWith("\\\\")) await chmod(address, 0o600);
  return server;
}

/** Undefined when nobody is there: what the file says is a dead process's. */
async function joinOwner(
  { address, token }: BridgeFile,
  { version, signal }: OwnershipOptions,
): Promise<Ownership | undefined> {
  const socket = connect(address);
  const stop = (): void => void socket.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await once(socket, "connect");
    const sessions = await remoteSessions(socket, { token, version });
    return {
      sessions,
      isOwner: false,
      gone: sessions.gone,
      close: () => Promise.resolve(sessions.close()),
    };
  } catch (error) {
    socket.destroy();
    if (error instanceof SpanlineError) throw error;
    if (error instanceof OwnerGoneError || isRefused(error)) return undefined;
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function isRefused(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ECONNREFUSED" || code === "ENOENT" || code === "ECONNRESET" || code === "EPIPE";
}
