import { requireRight, type Caller } from "../../http/caller.ts";
import type { OpenSocket } from "../../http/open-socket.ts";
import type { SocketRoute } from "../../http/web-sockets.ts";
import { MAX_LINE_BYTES } from "../../wire/jsonrpc/rpc-connection.ts";
import { refusalText } from "../../wire/jsonrpc/write-message.ts";
import { callerConnection, type AcpServingOptions } from "./caller-connection.ts";
import { leaveInTime } from "./leave-in-time.ts";
import { socketWriter } from "./socket-writer.ts";

/** The Agent Client Protocol over WebSockets. Who comes is known before there is one. */
export function acpSocketRoute(options: AcpServingOptions): SocketRoute {
  return {
    path: "/acp",
    limits: { messageBytes: MAX_LINE_BYTES, waitingTexts: MOST_TEXTS, ageMs: DAY_MS },
    binaryAnswer: refusalText("only texts are understood"),
    async accept(head) {
      const caller = options.access.callerOf(head);
      requireRight(caller, "prompt", "Asking an agent");
      options.rates?.request(caller.id);
      return (socket) => talk(socket, caller, options);
    },
  };
}

/** An editor that opens all its sessions at once says that in one breath. */
const MOST_TEXTS = 1000;
/** An editor stays open for as long as somebody works; what it missed it gets by its cursor. */
const DAY_MS = 86_400_000;

async function talk(socket: OpenSocket, caller: Caller, options: AcpServingOptions): Promise<void> {
  const writer = socketWriter(socket);
  const connection = callerConnection(caller, writer, options);
  let offset = 0;
  try {
    for await (const text of socket.texts) {
      connection.receive({ type: "line", text, offset });
      offset += text.length;
      await connection.calm();
    }
  } finally {
    await leaveInTime(connection, writer, options.clock);
  }
}
