import { writeSync } from "node:fs";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";

/** Appends to three sessions of a file in an endless loop, and prints every append which the store confirmed. */
const [, , file = ""] = process.argv;
const store = await openSqliteStore({ file });
await Promise.all(["ses_a", "ses_b", "ses_c"].map((sessionId) => appendForEver(store, sessionId)));

async function appendForEver(store: Store, sessionId: string): Promise<void> {
  const { lease, head } = await store.acquire(sessionId, { owner: "me", now: 0, durationMs: 1 });
  let { seq } = head;
  for (;;) {
    const events = Array.from({ length: 1 + (seq % 5) }, (_, index) => ({
      at: seq + index + 1,
      visibility: "public" as const,
      event: eventAt(seq + index + 1),
    }));
    const command = { id: `cmd_${seq}`, reply: seq };
    await store.append(lease, seq, { events, command, sync: seq % 3 === 0 });
    seq += events.length;
    writeSync(1, `${sessionId} ${seq}\n`);
  }
}

function eventAt(seq: number): SessionEvent {
  const text = `This is event ${seq} ${"and so on ".repeat(seq % 40)}`;
  const type = seq % 7 === 0 ? "text.finished" : "text.delta";
  return { type, messageId: "msg_1", block: 0, text };
}
