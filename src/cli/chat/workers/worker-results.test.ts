import { describe, expect, it } from "vitest";
import { formatWorkerNews } from "../../../domain/workers/worker-news.ts";
import type { PendingInjection, SessionUpdate, WorkerUpdate } from "../../../host/index.ts";
import { createWorkerResults } from "./worker-results.ts";

const WORKER = { workerId: "worker_1", name: 'the "captain"' };

function createUpdate(status: string, isTerminal: boolean): WorkerUpdate {
  const facts = { task: "Review", mode: "", event: "", sessionId: "ses_1", metadata: {} };
  return { type: "worker", ...WORKER, ...facts, status, isTerminal };
}

function createEmitted(text: string): SessionUpdate {
  const reminder = { body: formatWorkerNews(WORKER, text) };
  return { type: "extension", name: "reminder_emitted", fields: { reminder } };
}

function createPending(body: string): PendingInjection {
  const details = { mode: "finish_step", tags: ["worker"], dedupeKey: null, ttlTurns: null };
  const origin = { roleHint: "system", source: "stdlib_provider" };
  return { kind: "reminder", reminderId: "r", body, ...details, ...origin };
}

/** Workers of a session with these pending reminders. */
function createWorld(bodies: readonly string[] | Error) {
  const rows: string[] = [];
  const results = createWorkerResults((row) => rows.push(row));
  let requests = 0;
  const client = {
    async pendingInjections(): Promise<readonly PendingInjection[]> {
      requests += 1;
      if (bodies instanceof Error) throw bodies;
      return bodies.map(createPending);
    },
  };
  return {
    rows,
    readRequests: () => requests,
    show: async (update: SessionUpdate, isHistory = false): Promise<void> => {
      results.update({ update, isHistory }, { client, sessionId: "ses_root" });
      // Two ticks: the response, and its readers.
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}

const NEWS = formatWorkerNews(WORKER, "\n Fine \u001b[2J\nDetails");
const ROW = '⑂ result of the "captain": Fine \\u{1b}[2J';

describe("The result of a worker in a chat", () => {
  it.each([
    ["awaiting_input", false],
    ["completed", true],
    ["failed", true],
    ["stopped", true],
  ])(
    "A worker that is %s reports the first line of its result once",
    async (status, isTerminal) => {
      const { rows, show } = createWorld(["Another reminder", NEWS]);
      await show(createUpdate(status, isTerminal));
      expect(rows).toEqual([ROW]);
      await show(createEmitted("Fine"));
      expect(rows).toEqual([ROW]);
    },
  );

  it.each([[[]], [new Error("The connection is lost")]])(
    "A result that the agent receives before the chat reads it is reported from the reminder (%#)",
    async (bodies) => {
      const { rows, show } = createWorld(bodies);
      await show(createUpdate("completed", true));
      expect(rows).toEqual([]);
      await show(createEmitted("Fine."));
      expect(rows).toEqual(['⑂ result of the "captain": Fine.']);
    },
  );

  it("A running, a cancelled and an earlier worker report no result", async () => {
    const { rows, show, readRequests } = createWorld([NEWS]);
    await show(createUpdate("running", false));
    await show(createUpdate("cancelled", true));
    await show(createUpdate("completed", true), true);
    await show(createEmitted("Fine"));
    expect([rows, readRequests()]).toEqual([[], 0]);
  });

  it("The next cycle of a worker ends the wait for the result of its last cycle", async () => {
    const { rows, show } = createWorld([]);
    await show(createUpdate("awaiting_input", false));
    await show(createUpdate("progressed", false));
    await show(createEmitted("Fine"));
    expect(rows).toEqual([]);
  });
});
