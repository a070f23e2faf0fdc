import { requireRight, type Caller } from "../../../http/access/caller.ts";
import type { OpenSocket } from "../../../http/sockets/open-socket.ts";
import type { SocketRoute } from "../../../http/sockets/web-sockets.ts";
import { MAX_LINE_BYTES } from "../../../wire/jsonrpc/rpc-connection.ts";
import { encodeRefusal } from "../../../wire/jsonrpc/rpc-line.ts";
import { createCallerConnection, type AcpServerOptions } from "../connection/caller-connection.ts";
import { disconnectGracefully } from "../connection/graceful-disconnect.ts";
import { createPendingCounter } from "../connection/pending-work.ts";
import type { LineWriter } from "../connection/line-writer.ts";

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

/** Writes lines as WebSocket text messages, one message per line. Only the writer itself waits for a slow client. */
function createSocketWriter({
  send,
  disconnectSignal,
}: Pick<OpenSocket, "send" | "disconnectSignal">): LineWriter {
  const pending = createPendingCounter();
  let lines: string[] = [];
  let isBusy = false;

  async function flush(): Promise<void> {
    isBusy = true;
    while (lines.length > 0 && !disconnectSignal.aborted) {
      const batch = lines;
      lines = [];
      for (const line of batch) {
        await send(line.trimEnd());
        if (!disconnectSignal.aborted) pending.remove(line.length);
      }
    }
    isBusy = false;
  }

  disconnectSignal.addEventListener("abort", () => {
    lines = [];
    pending.clear();
  });
  return {
    disconnectSignal,
    get queuedCharacters() {
      return pending.length;
    },
    write(line) {
      if (disconnectSignal.aborted) return;
      lines.push(line);
      pending.add(line.length);
      if (!isBusy) void flush();
    },
    waitUntilBelow: (characters) => pending.waitUntilBelow(characters),
  };
}
