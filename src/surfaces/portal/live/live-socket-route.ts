import { readBearer } from "../../../http/access/bearer.ts";
import type { RequestHead } from "../../../http/server/http-types.ts";
import type { OpenSocket } from "../../../http/sockets/open-socket.ts";
import type { SocketRoute } from "../../../http/sockets/web-sockets.ts";
import { canUseAgent, type Caller } from "../../../http/access/caller.ts";
import { LiveEventEncoder } from "../../../wire/live/encode-live-frame.ts";
import { LIVE_PROTOCOL } from "../../../wire/live/live-frames.ts";
import { formatPortalError } from "../error-body.ts";
import { watchLogin } from "../login/watch-login.ts";
import { authenticate, readLoginSecret } from "../portal-access.ts";
import type { PortalOptions } from "../portal-options.ts";
import type { InboxIndex } from "./inbox-index.ts";
import { serveLiveClient } from "./live-connection.ts";
import { createPresence } from "./presence.ts";

export interface LiveRouteOptions extends PortalOptions {
  /** The version of the bridge. */
  readonly version: string;
  /** Receives bugs. The client receives a general message. */
  readonly report: (error: unknown) => void;
  /** Aborted when the process ends. */
  readonly closing: AbortSignal;
  readonly inbox: InboxIndex;
}

/** `/api/live`: events of any number of sessions over a WebSocket. The caller is authenticated before the upgrade. */
export function createLiveSocketRoute(options: LiveRouteOptions): SocketRoute {
  const encoder = new LiveEventEncoder();
  const presence = createPresence(options);
  return {
    path: "/api/live",
    limits: LIVE_LIMITS,
    // A ping is answered while another frame of the client waits for the owner of the sessions.
    isUrgent: (text) => text.startsWith('{"type":"ping"'),
    formatError: formatPortalError,
    async accept(head) {
      const caller = await authenticate(head, options);
      const secret = await findLoginSecret(head, options);
      return (socket) => serve(socket, caller, secret);
    },
  };

  async function serve(
    socket: OpenSocket,
    caller: Caller,
    secret: string | undefined,
  ): Promise<void> {
    const { sessions, clock, version, report, inbox } = options;
    const shared = { sessions, encoder, report, clock, inbox, presence };
    const login = secret === undefined ? undefined : watchLogin(secret, options.logins, clock);
    const context = { ...shared, caller, login, intervalMs: INTERVAL_MS };
    await serveLiveClient(socket, context, (writer) =>
      writer.write({
        type: "ready",
        protocol: LIVE_PROTOCOL,
        principal: { id: caller.id, rights: caller.rights },
        agents: sessions.agents.filter((agent) => canUseAgent(caller, agent)),
        version,
        now: clock.now(),
      }),
    );
  }
}

/** The secret of the login which identifies the caller. Undefined for a caller with a key, a token or no rights. */
async function findLoginSecret(
  head: RequestHead,
  { logins }: PortalOptions,
): Promise<string | undefined> {
  const secret = readBearer(head) === undefined ? readLoginSecret(head) : undefined;
  if (secret === undefined) return undefined;
  return (await logins.findLogin(secret)) === undefined ? undefined : secret;
}

/** Milliseconds between two frames of a topic. */
const INTERVAL_MS = 150;

const LIVE_LIMITS = {
  // After a reconnect, a page subscribes to all its sessions at once. The waiting messages have twice this size.
  messageBytes: 128 * 1024,
  waitingTexts: 1000,
  unsentBytes: 256 * 1024,
  stalledMs: 60_000,
  ageMs: 86_400_000,
};
