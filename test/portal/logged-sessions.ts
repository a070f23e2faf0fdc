import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import type { CommandReply, SessionCommand } from "../../src/domain/session-command.ts";
import type { Sender, Sessions } from "../../src/session/sessions.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Lease } from "../../src/store/log-store.ts";
import type { SessionFields } from "../../src/store/session-index.ts";
import type { Store } from "../../src/store/store.ts";

export interface Commanded {
  readonly sessionId: string;
  readonly command: SessionCommand;
  readonly from: Sender;
}

/** Sessions on a real store (real cursors and pages) for which the test writes the log and replies to commands. */
export interface LoggedSessions extends Sessions {
  readonly store: Store;
  readonly commanded: readonly Commanded[];
  /** Appends to a session's log. */
  log(sessionId: string, ...events: readonly SessionEvent[]): Promise<readonly Envelope[]>;
  logInternal(sessionId: string, ...events: readonly SessionEvent[]): Promise<readonly Envelope[]>;
  /** Replies to the next commands. Default: every command is accepted. */
  onCommand: (commanded: Commanded) => Promise<CommandReply>;
}

const START = Date.UTC(2026, 10, 16, 9, 30);

export function loggedSessions(store: Store = createMemoryStore()): LoggedSessions {
  const leases = new Map<string, Lease>();
  const commanded: Commanded[] = [];
  let now = START;
  let count = 0;

  async function append(
    sessionId: string,
    events: readonly SessionEvent[],
    { index, visibility = "public" }: { index?: SessionFields; visibility?: "public" | "internal" },
  ): Promise<readonly Envelope[]> {
    let lease = leases.get(sessionId);
    if (lease === undefined) {
      const acquired = await store.acquire(sessionId, { owner: "test", now, durationMs: 1e9 });
      lease = acquired.lease;
      leases.set(sessionId, lease);
    }
    const seq = (await store.readHead(sessionId))?.seq ?? 0;
    const appended = await store.append(lease, seq, {
      events: events.map((event) => ({ at: (now += 250), visibility, event })),
      ...(index !== undefined && { index }),
      sync: false,
    });
    return appended.status === "appended" ? appended.events : [];
  }

  const sessions: LoggedSessions = {
    store,
    commanded,
    agents: ["demo", "other"],
    onCommand: async () => ({ status: "accepted" }),
    log: (sessionId, ...events) => append(sessionId, events, {}),
    logInternal: (sessionId, ...events) => append(sessionId, events, { visibility: "internal" }),
    async open({ sessionId: named, agent = "demo", principal, title, workingDirectory, label }) {
      count += 1;
      const sessionId = named ?? `ses_${count}`;
      const fields = {
        agent,
        principal: principal.id,
        ...(title !== undefined && { title }),
        ...(workingDirectory !== undefined && { workingDirectory }),
      };
      const existing = await store.findSession(sessionId);
      if (existing !== undefined) return existing;
      const labelled = label === undefined ? fields : { ...fields, label };
      const index = { ...labelled, state: "idle" } as const;
      await append(sessionId, [{ type: "session.opened", ...fields }], { index });
      const record = await store.findSession(sessionId);
      if (record === undefined) throw new Error("The session was not kept");
      return record;
    },
    async command(sessionId, command, from) {
      const entry = { sessionId, command, from };
      commanded.push(entry);
      return sessions.onCommand(entry);
    },
    subscribe: (sessionId, cursor, signal) => store.subscribe(sessionId, cursor, signal),
    setClientTools: async () => ({ status: "accepted", problems: [] }),
    openWithPrompt: () => Promise.reject(new Error("The portal opens, and then prompts")),
    readHistory: () => Promise.reject(new Error("These sessions have no history")),
    listToolRules: async () => [],
    readUsage: () => Promise.reject(new Error("These sessions have no usage")),
    checkCredentials: async () => {},
    checkLog: async () => {},
    status: () => Promise.reject(new Error("The portal does not peek")),
    find: (sessionId) => store.findSession(sessionId),
    list: (query) => store.listSessions(query),
    readRecord: (scope, key) => store.readRecord(scope, key),
    putRecord: (scope, key, write) => store.putRecord(scope, key, write),
    deleteRecord: (scope, key, version) => store.deleteRecord(scope, key, version),
    listRecords: (query) => store.listRecords(query),
    watchSessions: (signal) => store.watchSessions(signal),
    async readBlob(sessionId, blobId) {
      const bytes = await store.readBlob(sessionId, blobId);
      return bytes && Buffer.from(bytes).toString("base64");
    },
    async delete(sessionId) {
      leases.delete(sessionId);
      return store.deleteSession(sessionId);
    },
  };
  return sessions;
}
