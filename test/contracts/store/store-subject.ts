import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import type { Cursor, Draft, Envelope } from "../../../src/domain/events/envelope.ts";
import type { AcquiredLease } from "../../../src/store/lease-store.ts";
import type { Lease, LogEntry } from "../../../src/store/log-store.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import type { Store } from "../../../src/store/store.ts";

export interface OpenStoreOptions {
  /** The clock of the store, also after it is reopened. Default: the system's. */
  readonly clock?: Clock;
}

export interface StoreSubject {
  /** Opens an empty store, which the subject closes after the test. */
  readonly open: (options?: OpenStoreOptions) => Promise<Store>;
  /** Closes a store and opens its data again. Absent if the store does not persist. */
  readonly reopen?: (store: Store) => Promise<Store>;
}

export const HOUR = 3_600_000;
export const NOW = 1_800_000_000_000;

export function acquire(store: Store, sessionId: string, now = NOW): Promise<AcquiredLease> {
  return store.acquire(sessionId, { owner: "me", now, durationMs: HOUR });
}

export function draft(event: SessionEvent, at = NOW): Draft {
  return { at, visibility: "public", event };
}

export function delta(text: string, { block = 0, at = NOW } = {}): Draft {
  return draft({ type: "text.delta", messageId: "msg_1", block, text }, at);
}

export function finished(text: string, { block = 0, at = NOW } = {}): Draft {
  return draft({ type: "text.finished", messageId: "msg_1", block, text }, at);
}

export function entry(events: readonly Draft[], rest: Partial<LogEntry> = {}): LogEntry {
  return { events, sync: false, ...rest };
}

/** Creates a session with this number of deltas and returns its lease. */
export async function sessionOf(store: Store, sessionId: string, events: number): Promise<Lease> {
  const { lease } = await acquire(store, sessionId);
  const drafts = Array.from({ length: events }, (_, index) => delta(`${index + 1}`));
  await store.append(lease, 0, entry(drafts));
  return lease;
}

export function seqs(events: readonly Envelope[]): readonly number[] {
  return events.map(({ seq }) => seq);
}

/** Reads until the log reaches a position, then unsubscribes. */
export async function readUntil(
  store: Store,
  { sessionId, cursor, until }: { sessionId: string; cursor?: Cursor; until: number },
): Promise<readonly Envelope[]> {
  const events: Envelope[] = [];
  for await (const batch of store.subscribe(sessionId, cursor, new AbortController().signal)) {
    events.push(...batch.events);
    if ((events.at(-1)?.seq ?? 0) >= until) break;
  }
  return events;
}

/** The head of a session. Throws if the session does not exist. */
export async function headOf(store: Store, sessionId: string) {
  const head = await store.readHead(sessionId);
  if (head === undefined) throw new Error(`unknown session ${sessionId}`);
  return head;
}
