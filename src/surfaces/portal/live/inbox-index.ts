import { toJsonText } from "../../../data/json.ts";
import type { OpenApproval, Sessions } from "../../../session/sessions.ts";
import type { InboxItem } from "../../../wire/live/live-frames.ts";
import type { SessionRecord } from "../session-resource.ts";

/** An item of the inbox, encoded once for all connections. */
export interface InboxEntry extends Pick<
  InboxItem,
  "key" | "sessionId" | "agent" | "principal" | "requestedAt"
> {
  readonly item: InboxItem;
  /** The item as JSON. */
  readonly text: string;
}

export interface InboxView {
  /** The oldest first. */
  readonly entries: readonly InboxEntry[];
  /** False if there are more open requests than the limits. */
  readonly isComplete: boolean;
}

/** The open requests of all sessions. Reads sessions only while a watcher exists. */
export interface InboxIndex {
  /** Yields the inbox, then the newest inbox after each change. Ends with the signal or with the sessions. */
  watch(signal: AbortSignal): AsyncIterable<InboxView>;
}

/** Open requests in the inbox. */
const MAX_INBOX_ITEMS = 500;
/** Characters of all items together: requests contain whole arguments. */
const MAX_INBOX_LENGTH = 32_000_000;
/** Waiting sessions whose records are compared to find the oldest. */
const MAX_WAITING_SESSIONS = 10_000;
const PAGE_SIZE = 200;
/** Sessions whose status is read at the same time. */
const MAX_READS = 8;

export function createInboxIndex(
  sessions: Pick<Sessions, "list" | "status" | "watchSessions">,
): InboxIndex {
  let running: RunningIndex | undefined;
  return {
    async *watch(signal) {
      running ??= new RunningIndex(sessions);
      const index = running;
      index.watcherCount += 1;
      try {
        let seen: InboxView | undefined;
        while (!signal.aborted) {
          const view = await index.waitForChange(seen, signal);
          if (view === undefined) return;
          yield (seen = view);
        }
      } finally {
        index.watcherCount -= 1;
        if (index.watcherCount === 0) {
          index.stop();
          if (running === index) running = undefined;
        }
      }
    },
  };
}

/** The open requests of a session, as of a log position. */
interface WaitingSession {
  readonly seq: number;
  readonly incarnation: string;
  readonly entries: readonly InboxEntry[];
}

class RunningIndex {
  watcherCount = 0;
  readonly #sessions: Pick<Sessions, "list" | "status" | "watchSessions">;
  readonly #waiting = new Map<string, WaitingSession>();
  readonly #stopping = new AbortController();
  readonly #watchers = new Set<() => void>();
  #view: InboxView | undefined;
  #isPartial = false;
  #ending: { readonly error?: unknown } | undefined;

  constructor(sessions: Pick<Sessions, "list" | "status" | "watchSessions">) {
    this.#sessions = sessions;
    void this.#run();
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Resolves with a view other than `seen`; undefined at the end. Rejects if the sessions cannot be read. */
  async waitForChange(
    seen: InboxView | undefined,
    signal: AbortSignal,
  ): Promise<InboxView | undefined> {
    while (this.#view === seen && this.#ending === undefined && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#watchers.delete(wake);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        this.#watchers.add(wake);
        signal.addEventListener("abort", wake);
      });
    }
    if (signal.aborted) return undefined;
    if (this.#ending?.error !== undefined) throw this.#ending.error;
    return this.#ending === undefined ? this.#view : undefined;
  }

  async #run(): Promise<void> {
    try {
      for await (const changes of this.#sessions.watchSessions(this.#stopping.signal)) {
        if (changes.reset) await this.#readAll();
        else await this.#apply(changes.changed, changes.removed);
        this.#publish();
      }
      this.#ending = {};
    } catch (error) {
      this.#ending = { error };
    }
    this.#wake();
  }

  async #apply(changed: readonly SessionRecord[], removed: readonly string[]): Promise<void> {
    for (const sessionId of removed) this.#waiting.delete(sessionId);
    const waiting = changed.filter(({ state }) => state === "waiting");
    for (const { sessionId, state } of changed)
      if (state !== "waiting") this.#waiting.delete(sessionId);
    await this.#readEach(waiting);
    // Requests beyond the limit take the places of resolved requests.
    if (this.#isPartial && this.#waiting.size < MAX_INBOX_ITEMS / 2) await this.#readAll();
  }

  /** Reads the sessions with the longest wait. */
  async #readAll(): Promise<void> {
    const records = await this.#listWaiting();
    const oldest = records
      .toSorted((left, right) => left.updatedAt - right.updatedAt)
      .slice(0, MAX_INBOX_ITEMS);
    const ids = new Set(oldest.map(({ sessionId }) => sessionId));
    for (const sessionId of this.#waiting.keys())
      if (!ids.has(sessionId)) this.#waiting.delete(sessionId);
    this.#isPartial = records.length > oldest.length;
    await this.#readEach(oldest);
  }

  async #listWaiting(): Promise<readonly SessionRecord[]> {
    const records: SessionRecord[] = [];
    let page: string | undefined;
    do {
      const query = { state: "waiting", limit: PAGE_SIZE } as const;
      const listed = await this.#sessions.list(page === undefined ? query : { ...query, page });
      records.push(...listed.sessions);
      page = listed.nextPage;
    } while (page !== undefined && records.length < MAX_WAITING_SESSIONS);
    return records;
  }

  async #readEach(records: readonly SessionRecord[]): Promise<void> {
    const remaining = records.values();
    const readNext = async (): Promise<void> => {
      for (const record of remaining) await this.#readSession(record);
    };
    await Promise.all(Array.from({ length: MAX_READS }, readNext));
  }

  async #readSession(record: SessionRecord): Promise<void> {
    const { sessionId, seq, incarnation } = record;
    const known = this.#waiting.get(sessionId);
    if (known?.seq === seq && known.incarnation === incarnation) return;
    if (known === undefined && this.#waiting.size >= MAX_INBOX_ITEMS) {
      this.#isPartial = true;
      return;
    }
    try {
      const { openApprovals } = await this.#sessions.status(sessionId);
      // The request of a worker is listed with the session of the worker, which decides.
      const entries = openApprovals
        .filter(({ request }) => request.worker === undefined)
        .map((approval) => createEntry(record, approval));
      this.#waiting.set(sessionId, { seq, incarnation, entries });
    } catch {
      // The session was deleted meanwhile, or its log is damaged. Its page shows the reason.
      this.#waiting.delete(sessionId);
    }
  }

  #publish(): void {
    const all = [...this.#waiting.values()].flatMap(({ entries }) => entries);
    const oldest = all.toSorted((left, right) => left.requestedAt - right.requestedAt);
    const entries: InboxEntry[] = [];
    let length = 0;
    for (const entry of oldest.slice(0, MAX_INBOX_ITEMS)) {
      length += entry.text.length;
      if (length > MAX_INBOX_LENGTH) break;
      entries.push(entry);
    }
    const isComplete = !this.#isPartial && entries.length === all.length;
    this.#view = { entries, isComplete };
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#watchers) wake();
  }
}

function createEntry(
  { sessionId, title, agent, principal }: SessionRecord,
  { requestedAt, request, votes }: OpenApproval,
): InboxEntry {
  const { signature: _, ...unsigned } = request;
  const key = `${sessionId}/${request.approvalId}`;
  const item: InboxItem = {
    key,
    sessionId,
    title,
    agent,
    principal,
    requestedAt,
    request: unsigned,
    votes: votes.map(({ principal: voter, decision, answer }) => ({
      principal: voter,
      decision,
      ...(answer !== undefined && { answer }),
    })),
  };
  return { key, sessionId, agent, principal, requestedAt, item, text: toJsonText(item) };
}
