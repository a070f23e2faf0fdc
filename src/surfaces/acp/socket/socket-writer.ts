import type { OpenSocket } from "../../../http/sockets/open-socket.ts";
import { createPendingCounter } from "../connection/backpressure.ts";
import type { LineWriter } from "../connection/line-writer.ts";

/** Writes lines as WebSocket text messages, one message per line. Only the writer itself waits for a slow client. */
export function createSocketWriter({
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
