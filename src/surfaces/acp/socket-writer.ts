import type { OpenSocket } from "../../http/open-socket.ts";
import { createBacklog } from "./backlog.ts";
import type { LineWriter } from "./line-writer.ts";

/** Lines as the texts of a WebSocket, one for each. One that its client does not take is waited for, and nothing else is. */
export function socketWriter({ send, gone }: Pick<OpenSocket, "send" | "gone">): LineWriter {
  const backlog = createBacklog();
  let lines: string[] = [];
  let isBusy = false;

  async function flush(): Promise<void> {
    isBusy = true;
    while (lines.length > 0 && !gone.aborted) {
      const batch = lines;
      lines = [];
      for (const line of batch) {
        await send(line.trimEnd());
        if (!gone.aborted) backlog.remove(line.length);
      }
    }
    isBusy = false;
  }

  gone.addEventListener("abort", () => {
    lines = [];
    backlog.clear();
  });
  return {
    gone,
    get queued() {
      return backlog.length;
    },
    write(line) {
      if (gone.aborted) return;
      lines.push(line);
      backlog.add(line.length);
      if (!isBusy) void flush();
    },
    below: (characters) => backlog.below(characters),
  };
}
