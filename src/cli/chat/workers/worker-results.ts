import { isObject } from "../../../data/json.ts";
import { readWorkerNews } from "../../../domain/workers/worker-news.ts";
import type {
  Client,
  ExtensionUpdate,
  SessionNotification,
  WorkerUpdate,
} from "../../../host/index.ts";
import { toSingleLine } from "../../../inspect/trace-style.ts";

/**
 * Reports the results of workers which no tool call waits for. The session sends such a result to its agent as a
 * reminder: first the reminder is pending, and then the agent receives it, possibly at once.
 */
export interface WorkerResults {
  update(
    notification: Pick<SessionNotification, "update" | "isHistory">,
    source: ResultSource | undefined,
  ): void;
}

/** The session whose pending reminders have the results. */
interface ResultSource {
  readonly client: Pick<Client, "pendingInjections">;
  readonly sessionId: string;
}

type WorkerName = Pick<WorkerUpdate, "workerId" | "name">;

export function createWorkerResults(report: (row: string) => void): WorkerResults {
  /** Workers whose result is not reported yet, by id. */
  const awaited = new Map<string, WorkerName>();

  function readBody(body: string): void {
    for (const worker of awaited.values()) {
      const text = readWorkerNews(worker, body);
      if (text === undefined) continue;
      awaited.delete(worker.workerId);
      report(formatResult(worker, text));
    }
  }

  async function readPending({ client, sessionId }: ResultSource): Promise<void> {
    for (const entry of await client.pendingInjections(sessionId))
      if (entry.kind === "reminder") readBody(entry.body);
  }

  return {
    update({ update, isHistory }, source) {
      if (isHistory) return;
      if (update.type === "extension") return readBody(readReminderBody(update));
      if (update.type !== "worker") return;
      if (!hasResult(update)) return void awaited.delete(update.workerId);
      awaited.set(update.workerId, update);
      // If this request fails, the reminder itself has the result later.
      if (source !== undefined) readPending(source).catch(() => undefined);
    },
  };
}

/** A cancelled worker has no result. */
function hasResult({ isTerminal, status }: WorkerUpdate): boolean {
  return status === "awaiting_input" || (isTerminal && status !== "cancelled");
}

function readReminderBody({ name, fields }: ExtensionUpdate): string {
  const reminder = name === "reminder_emitted" ? fields["reminder"] : undefined;
  const body = isObject(reminder) ? reminder["body"] : undefined;
  return typeof body === "string" ? body : "";
}

function formatResult({ name }: WorkerName, text: string): string {
  const line = text.split("\n").find((one) => one.trim() !== "") ?? "";
  return `⑂ result of ${toSingleLine(name)}: ${toSingleLine(line.trim())}`;
}
