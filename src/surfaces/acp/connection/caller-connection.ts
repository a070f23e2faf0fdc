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

/** What is needed to serve clients that come over the network. */
export interface AcpServerOptions {
  readonly sessions: Sessions;
  readonly access: Access;
  readonly rates?: RateLimits;
  readonly clock: Clock;
  /** Of all that are served. */
  readonly lines: LineCache;
  /** What clients are sent. Default: `auto`. */
  readonly updates?: UpdatesSetting;
  readonly log: AcpLog;
}

/** The connection of somebody who came by a server, and is known. */
export function createCallerConnection(
  caller: Caller,
  writer: LineWriter,
  { sessions, rates, clock, lines, updates, log }: AcpServerOptions,
): AcpConnection {
  return createAcpConnection({
    sessions: createCallerSessions(sessions, caller, rates),
    principal: { id: caller.id, rights: caller.rights },
    isLocalUser: isLocalUser(caller),
    // The token may have come along with a tunnel; nobody knows whose files the client has.
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
