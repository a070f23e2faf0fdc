import { startServer } from "../http/server.ts";
import { randomToken } from "../platform/random.ts";
import type { Sessions } from "../session/sessions.ts";
import type { SessionRecord } from "../store/store.ts";
import { PORTAL_LIMITS, portalRoutes } from "../surfaces/portal/portal-routes.ts";
import { router } from "../surfaces/portal/router.ts";
import { localPrincipal } from "./local-principal.ts";
import type { BridgeOptions } from "./bridge-options.ts";
import { openBridge } from "./open-bridge.ts";

export interface UpOptions extends BridgeOptions {
  readonly host: string;
  readonly port: number;
}

export interface Up {
  readonly url: string;
  /** Leads to the session, with the token of this run: whoever has it may approve and control. */
  readonly link: string;
  readonly session: SessionRecord;
  /** Whether this process runs the sessions, rather than another one that was there before. */
  readonly isOwner: boolean;
  close(): Promise<void>;
}

/** Runs or joins the sessions of a directory and serves them to browsers and programs of this machine. */
export async function runUp(options: UpOptions): Promise<Up> {
  const { host, port, clock, report } = options;
  const bridge = openBridge(options);
  try {
    const { isOwner } = await bridge.joined();
    const { sessions } = bridge;
    const token = randomToken();
    const session = await latestSession(sessions);
    const routes = portalRoutes({ sessions, clock, token, keyless: true });
    const served = { host, port, limits: PORTAL_LIMITS, onBug: report };
    const server = await startServer({ ...served, ...router(routes, report) });
    return {
      url: server.url,
      link: `${server.url}/sessions/${session.sessionId}?token=${token}`,
      session,
      isOwner,
      async close() {
        await server.close();
        await bridge.close();
      },
    };
  } catch (error) {
    await bridge.close();
    throw error;
  }
}

/** Whoever starts it again finds the session where it was. */
async function latestSession(sessions: Sessions): Promise<SessionRecord> {
  const { sessions: found } = await sessions.list({ limit: 1 });
  return found[0] ?? sessions.open({ principal: localPrincipal, title: "First session" });
}
