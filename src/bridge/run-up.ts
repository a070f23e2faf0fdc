import { SpanlineError } from "../domain/errors.ts";
import { startServer, type RunningServer, type ServerOptions } from "../http/server.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Retained, SessionRecord } from "../store/store.ts";
import { isLoopback } from "../surfaces/portal/loopback.ts";
import { PORTAL_LIMITS, portalRoutes } from "../surfaces/portal/portal-routes.ts";
import { router } from "../surfaces/portal/router.ts";
import { localPrincipal } from "./local-principal.ts";
import type { BridgeOptions } from "./bridge-options.ts";
import { notePort, whoListens } from "./listening-port.ts";
import { openBridge } from "./open-bridge.ts";
import { portalToken } from "./portal-token.ts";

export type { Retained };

export interface UpOptions extends BridgeOptions {
  readonly host: string;
  readonly port: number;
  /** Makes another token: whoever has the old one loses its rights. */
  readonly newToken?: boolean;
}

export interface Up {
  readonly url: string;
  /** Leads to the session, with the token of this directory: whoever has it may approve and control. */
  readonly link: string;
  readonly session: SessionRecord;
  /** Whether this process runs the sessions, rather than another one that was there before. */
  readonly isOwner: boolean;
  /** The process that does. */
  readonly ownerPid: number;
  /** The configuration that its agents come from; undefined for the demo agent. */
  readonly config: string | undefined;
  /** Their names, the default first. */
  readonly agents: readonly string[];
  close(): Promise<void>;
}

/** Runs or joins the sessions of a directory and serves them to browsers and programs of this machine. */
export async function runUp(options: UpOptions): Promise<Up> {
  const { host, port, clock, report, signal } = options;
  const bridge = openBridge(options);
  const leave = (): void => void bridge.close().catch(report);
  signal?.addEventListener("abort", leave, { once: true });
  try {
    const { isOwner, pid: ownerPid, config } = await bridge.joined();
    const { sessions } = bridge;
    const token = await portalToken(options.directory, { renew: options.newToken === true });
    const session = await latestSession(sessions);
    const routes = portalRoutes({ sessions, clock, token, keyless: isLoopback(host) });
    const served = { host, port, limits: PORTAL_LIMITS, onBug: report };
    const server = await listening(options, { ...served, ...router(routes, report) });
    return {
      url: server.url,
      link: `${server.url}/sessions/${session.sessionId}?token=${token}`,
      session,
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
    signal?.removeEventListener("abort", leave);
  }
}

/** A port that somebody chose is written down, for whoever chooses it again. */
async function listening(
  { directory, port }: UpOptions,
  served: ServerOptions,
): Promise<RunningServer> {
  let server: RunningServer;
  try {
    server = await startServer(served);
  } catch (error) {
    const pid = await whoListens(directory, port);
    if (pid === undefined) throw error;
    const message = `A bridge of this directory already listens on port ${port}, in process ${pid}; use that, or choose another with --port`;
    throw new SpanlineError("conflict", message, { details: { port, pid }, cause: error });
  }
  if (port === 0) return server;
  const forget = await notePort(directory, port);
  return {
    ...server,
    async close() {
      await forget();
      await server.close();
    },
  };
}

/** Whoever starts it again finds the session where it was. */
async function latestSession(sessions: Sessions): Promise<SessionRecord> {
  const { sessions: found } = await sessions.list({ limit: MOST_LOOKED_AT });
  // One of an agent that is not there any more leads nowhere.
  const served = found.find(({ agent }) => sessions.agents.includes(agent));
  return served ?? sessions.open({ principal: localPrincipal, title: "First session" });
}

const MOST_LOOKED_AT = 100;
