import { rm } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_SERVE_CONFIG } from "../../config/default-serve-config.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { checkKeylessHost } from "../../http/access/access-keys.ts";
import { listNetworkUrls } from "../../http/access/any-address.ts";
import type { HttpServer } from "../../http/server/start-server.ts";
import { readSavedFile, saveFile } from "../../platform/files/private-files.ts";
import { readProcessStartTime } from "../../platform/process/process-start-time.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { UpdatesSetting } from "../../wire/acp/decode/client-profile.ts";
import type { BridgeOptions } from "../bridge-options.ts";
import type { ServeSettings } from "../configured/serve-settings.ts";
import { openBridge } from "../open-bridge.ts";
import { seedFromPosition } from "./deterministic-sessions.ts";
import { ensurePortalToken } from "./portal-token.ts";
import { startSurfaces, type SurfacesOptions } from "./start-surfaces.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ServeOptions extends BridgeOptions, Pick<SurfacesOptions, "accessLog"> {
  /** The `serve` settings of the configuration. */
  readonly serving?: ServeSettings;
  /** Override the settings of the configuration. */
  readonly host?: string;
  readonly port?: number;
  readonly updates?: UpdatesSetting;
  /** Creates a new token. The old token becomes invalid. */
  readonly newToken?: boolean;
}

export interface ServedBridge {
  readonly url: string;
  /** URLs for other machines. Empty unless the server listens on all addresses. */
  readonly otherUrls: readonly string[];
  readonly sessions: Sessions;
  readonly token: string;
  /** True if clients need a key. */
  readonly needsKey: boolean;
  /** True if this process runs the sessions; false if it joined another process. */
  readonly isOwner: boolean;
  /** The process that runs the sessions. */
  readonly ownerPid: number;
  /**
   * The process that already serves the portal on this port, so this process does not. Undefined if this process
   * serves.
   */
  readonly portalPid: number | undefined;
  /** The configuration of the agents. Undefined for the demo agent. */
  readonly config: string | undefined;
  /** Names of the agents, the default first. */
  readonly agents: readonly string[];
  close(): Promise<void>;
}

/** Runs or joins the sessions of a directory, and serves them over HTTP. */
export async function serveBridge(
  options: ServeOptions,
  { portal }: Pick<SurfacesOptions, "portal">,
): Promise<ServedBridge> {
  const { clock, report, signal, accessLog, updates } = options;
  const { serving: configured = DEFAULT_SERVE_CONFIG } = options;
  const serving = updates === undefined ? configured : { ...configured, updates };
  const { host, port } = resolveListenAddress(options);
  const needsKey = serving.keys.length > 0;
  checkKeylessHost(host, { hasKeys: needsKey, isKeyless: !needsKey });
  const repeatable = serving.deterministic ? { coalesceMs: 0, seed: seedFromPosition } : {};
  const bridge = openBridge({ ...options, ...repeatable });
  const closeBridge = (): void => void bridge.close().catch(report);
  signal?.addEventListener("abort", closeBridge, { once: true });
  try {
    const { isOwner, pid: ownerPid, config } = await bridge.getOwnership();
    const { sessions } = bridge;
    if (options.newToken === true) await checkTokenUnused(options.directory, port);
    const token = await ensurePortalToken(options.directory, { renew: options.newToken === true });
    const server = await startListening(options, portal, () =>
      startSurfaces({
        sessions,
        clock,
        host,
        port,
        serving,
        token,
        portal,
        report,
        ...omitUndefined({ accessLog }),
      }),
    );
    return {
      url: server.url,
      portalPid: server.portalPid,
      otherUrls: server.portalPid === undefined ? listNetworkUrls(host, server.port) : [],
      sessions,
      token,
      needsKey,
      isOwner,
      ownerPid,
      config: config?.file,
      agents: sessions.agents,
      async close() {
        await server.close();
        await bridge.close();
      },
    };
  } catch (error) {
    await bridge.close();
    throw error;
  } finally {
    signal?.removeEventListener("abort", closeBridge);
  }
}

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 4777;

/** Returns the address to listen on: flags, then the configuration, then 127.0.0.1:4777. */
export function resolveListenAddress({
  host,
  port,
  serving,
}: Pick<ServeOptions, "host" | "port" | "serving">) {
  return {
    host: host ?? serving?.host ?? DEFAULT_HOST,
    port: port ?? serving?.port ?? DEFAULT_PORT,
  };
}

/**
 * Throws `conflict` if a process already listens for this directory: the process has read its token at its start, so a
 * new token in the file would only break the links to it.
 */
async function checkTokenUnused(directory: string, port: number): Promise<void> {
  const running = await findListeningProcess(directory, port);
  if (running === undefined) return;
  const message = `The token is in use by process ${running.pid}, which listens on port ${port}. Fix: stop that process, then start with --new-token`;
  throw new SpanlineError("conflict", message, { details: { port, pid: running.pid } });
}

interface ListeningServer extends Pick<HttpServer, "url" | "port" | "close"> {
  readonly portalPid?: number;
}

/**
 * Starts to listen, and records the port in the data directory unless the port is 0. If a process of the same directory
 * already serves the portal on this port, the result is the address of that process.
 */
async function startListening(
  options: ServeOptions,
  needsPortal: boolean,
  start: () => Promise<HttpServer>,
): Promise<ListeningServer> {
  const { directory } = options;
  const { port } = resolveListenAddress(options);
  let server: HttpServer;
  try {
    server = await start();
  } catch (error) {
    const running = await findListeningProcess(directory, port);
    if (running === undefined) throw error;
    const { pid, portalUrl: url } = running;
    if (needsPortal && url !== undefined)
      return { url, port, portalPid: pid, close: async () => {} };
    const message = `A bridge of this directory already listens on port ${port}, in process ${pid}. Fix: use that process, or choose another port with --port`;
    throw new SpanlineError("conflict", message, { details: { port, pid }, cause: error });
  }
  if (port === 0) return server;
  const forget = await recordListeningPort(directory, {
    port,
    url: server.url,
    hasPortal: needsPortal,
  });
  return {
    ...server,
    async close() {
      await forget();
      await server.close();
    },
  };
}

interface PortRecord {
  readonly port: number;
  readonly url: string;
  readonly hasPortal: boolean;
}

/** A live process that listens on a port for a data directory. */
interface ListeningProcess {
  readonly pid: number;
  /** Undefined if the process has no portal. */
  readonly portalUrl: string | undefined;
}

/** Records the port of this process for a directory. Returns a function that removes the record. */
async function recordListeningPort(
  directory: string,
  { port, url, hasPortal }: PortRecord,
): Promise<() => Promise<void>> {
  const file = resolvePortFile(directory, port);
  const owner = `${process.pid} ${await readProcessStartTime(process.pid)}`;
  await saveFile(file, `${owner}\n${hasPortal ? `${url}\n` : ""}`);
  return () => rm(file, { force: true });
}

/** Finds the process that listens on a port for a directory. Undefined without a record of a live process. */
async function findListeningProcess(
  directory: string,
  port: number,
): Promise<ListeningProcess | undefined> {
  const text = await readSavedFile(resolvePortFile(directory, port)).catch(() => undefined);
  const [owner = "", portalUrl] = (text ?? "").trim().split("\n");
  const [pid = "", ...born] = owner.split(" ");
  if (!/^\d+$/.test(pid) || born.length === 0) return undefined;
  const isAlive = (await readProcessStartTime(Number(pid))) === born.join(" ");
  return isAlive ? { pid: Number(pid), portalUrl } : undefined;
}

function resolvePortFile(directory: string, port: number): string {
  return join(directory, `up-${port}.pid`);
}
