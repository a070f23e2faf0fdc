import { isLocalUser, type Access } from "../../../http/access/access.ts";
import type { Caller } from "../../../http/access/caller.ts";
import type { RateLimits } from "../../../http/access/rate-limits.ts";
import type { Clock } from "../../../platform/clock.ts";
import { readPackageVersion } from "../../../platform/package-version.ts";
import { randomString } from "../../../platform/random.ts";
import type { Sessions } from "../../../session/sessions.ts";
import type { UpdatesSetting } from "../../../wire/acp/decode/client-profile.ts";
import type { LineCache } from "../../../wire/acp/encode/line-cache.ts";
import { createAcpConnection, type AcpConnection } from "./acp-connection.ts";
import { createCallerSessions } from "./caller-sessions.ts";
import type { AcpLog } from "./client-link.ts";
import type { LineWriter } from "./line-writer.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** Dependencies for serving ACP clients over the network (HTTP and WebSocket). */
export interface AcpServerOptions {
  readonly sessions: Sessions;
  readonly access: Access;
  readonly rates?: RateLimits;
  readonly clock: Clock;
  /** Encoded lines, shared by all connections of the server. */
  readonly lines: LineCache;
  /** Which updates clients receive. Default: `auto`. */
  readonly updates?: UpdatesSetting;
  readonly log: AcpLog;
}

/** Creates the ACP connection of an authenticated caller of the server. */
export function createCallerConnection(
  caller: Caller,
  writer: LineWriter,
  { sessions, rates, clock, lines, updates, log }: AcpServerOptions,
): AcpConnection {
  return createAcpConnection({
    sessions: createCallerSessions(sessions, caller, rates),
    principal: { id: caller.id, rights: caller.rights },
    isLocalUser: isLocalUser(caller),
    // A token can be used through a tunnel, so the server cannot know whose files the client has.
    isSameMachine: false,
    hasCursors: true,
    connectionId: randomString(16),
    version: readPackageVersion(),
    clock,
    writer,
    lines,
    ...omitUndefined({ updates }),
    ...(rates !== undefined && { countTurn: () => rates.startTurn(caller.id) }),
    log,
  });
}
