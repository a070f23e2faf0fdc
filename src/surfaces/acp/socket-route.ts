import { isUserOfMachine, type Access } from "../../http/access.ts";
import { requireRight, type Caller } from "../../http/caller.ts";
import type { OpenSocket } from "../../http/open-socket.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import type { SocketRoute } from "../../http/web-sockets.ts";
import type { Clock } from "../../platform/clock.ts";
import { packageVersion } from "../../platform/package-version.ts";
import { randomText } from "../../platform/random.ts";
import type { Sessions } from "../../session/sessions.ts";
import { sharedLines, type SharedLines } from "../../wire/acp/shared-lines.ts";
import { refusalText } from "../../wire/jsonrpc/write-message.ts";
import { createAcpConnection } from "./acp-connection.ts";
import { callerSessions } from "./caller-sessions.ts";
import type { AcpLog } from "./client-link.ts";
import { leaveInTime } from "./leave-in-time.ts";
import { socketWriter } from "./socket-writer.ts";

export interface AcpSocketOptions {
  readonly sessions: Sessions;
  readonly access: Access;
  readonly rates?: RateLimits;
  readonly clock: Clock;
  readonly log: AcpLog;
}

/** The Agent Client Protocol over WebSockets. Who comes is known before there is one. */
export function acpSocketRoute(options: AcpSocketOptions): SocketRoute {
  const lines = sharedLines();
  return {
    path: "/acp",
    limits: { waitingTexts: MOST_TEXTS, ageMs: DAY_MS },
    binaryAnswer: refusalText("only texts are understood"),
    async accept(head) {
      const caller = options.access.callerOf(head);
      requireRight(caller, "prompt", "Asking an agent");
      options.rates?.request(caller.id);
      return (socket) => talk(socket, caller, { ...options, lines });
    },
  };
}

/** An editor that opens all its sessions at once says that in one breath. */
const MOST_TEXTS = 1000;
/** An editor stays open for as long as somebody works; what it missed it gets by its cursor. */
const DAY_MS = 86_400_000;

async function talk(
  socket: OpenSocket,
  caller: Caller,
  { sessions, rates, clock, lines, log }: AcpSocketOptions & { readonly lines: SharedLines },
): Promise<void> {
  const writer = socketWriter(socket);
  const connection = createAcpConnection({
    sessions: callerSessions(sessions, caller, rates),
    principal: { id: caller.id, rights: caller.rights },
    isUser: isUserOfMachine(caller),
    hasCursors: true,
    connectionId: randomText(16),
    version: packageVersion(),
    clock,
    writer,
    lines,
    log,
  });
  let offset = 0;
  for await (const text of socket.texts) {
    connection.receive({ type: "line", text, offset });
    offset += text.length;
    await connection.calm();
  }
  await leaveInTime(connection, writer, clock);
}
