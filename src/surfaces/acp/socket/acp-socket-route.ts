import { requireRight, type Caller } from "../../../http/access/caller.ts";
import type { OpenSocket } from "../../../http/sockets/open-socket.ts";
import type { SocketRoute } from "../../../http/sockets/web-sockets.ts";
import { MAX_LINE_BYTES } from "../../../wire/jsonrpc/rpc-connection.ts";
import { encodeRefusal } from "../../../wire/jsonrpc/rpc-line.ts";
import { createCallerConnection, type AcpServerOptions } from "../connection/caller-connection.ts";
import { disconnectGracefully } from "../connection/graceful-disconnect.ts";
import { createSocketWriter } from "./socket-writer.ts";

/** ACP over WebSockets. The caller is authenticated before the upgrade. */
export function createAcpSocketRoute(options: AcpServerOptions): SocketRoute {
  return {
    path: "/acp",
    limits: { messageBytes: MAX_LINE_BYTES, waitingTexts: MAX_WAITING_MESSAGES, ageMs: DAY_MS },
    binaryAnswer: encodeRefusal("only text messages are supported"),
    async accept(head) {
      const caller = options.access.authenticate(head);
      requireRight(caller, "prompt", "Submitting a prompt");
      options.rates?.countRequest(caller.id);
      return (socket) => serveSocket(socket, caller, options);
    },
  };
}

/** Messages waiting to be handled. An editor may open all its sessions at once after a start. */
const MAX_WAITING_MESSAGES = 1000;
/** Maximum age of a socket. An editor can stay open for days; after a reconnect it resumes from its cursor. */
const DAY_MS = 86_400_000;

async function serveSocket(
  socket: OpenSocket,
  caller: Caller,
  options: AcpServerOptions,
): Promise<void> {
  const writer = createSocketWriter(socket);
  const connection = createCallerConnection(caller, writer, options);
  let offset = 0;
  try {
    for await (const text of socket.messages) {
      connection.receive({ type: "line", text, offset });
      offset += text.length;
      await connection.waitForCapacity();
    }
  } finally {
    await disconnectGracefully(connection, writer, options.clock);
  }
}
