import type { Envelope } from "../../domain/events/envelope.ts";
import type { ClientRole } from "../../domain/events/client-events.ts";
import type { Clock } from "../../platform/clock.ts";
import type { LiveError } from "../../wire/live/live-frames.ts";
import { reduceSession } from "../state/reduce-session.ts";
import { createSessionFold, type SessionFold } from "../state/session-fold.ts";
import type { SessionChange } from "./live-state.ts";
import { createValueStore, type WritableValueStore } from "./value-store.ts";

/** One session on this page. */
export interface SessionSnapshot {
  /** Empty while `isLoading` is true for the first time. */
  readonly view: SessionFold;
  /** The log is being read up to its end. */
  readonly isLoading: boolean;
  /** Why the session cannot be shown, such as `not_found`. Null if it can. */
  readonly error: LiveError | null;
  /** A part of the log is missing or unreadable. */
  readonly gap: LiveError | null;
  /** This page among the clients of the session. Null while it is not attached. */
  readonly client: { readonly clientId: string; readonly role: ClientRole } | null;
}

export interface SnapshotFeed {
  readonly store: WritableValueStore<SessionSnapshot>;
  apply(change: SessionChange): void;
}

/** Milliseconds in which events are collected, so that a stream renders once per frame. */
const FLUSH_MS = 16;
/** Events reduced in one task: more would delay input and scrolling. */
const MAX_EVENTS_PER_TASK = 1000;

/** Collects the events of a session and publishes its view. The first view is published when the log has been read. */
export function createSnapshotFeed(sessionId: string, clock: Clock): SnapshotFeed {
  const empty = createSessionFold(sessionId);
  const store = createValueStore(createLoadingSnapshot(empty));
  let view = empty;
  let waiting: Envelope[] = [];
  let isLive = false;
  let isScheduled = false;

  const publish = (fields: Partial<SessionSnapshot>): void =>
    store.set({ ...store.get(), ...fields });

  const schedule = (milliseconds: number): void => {
    if (isScheduled) return;
    isScheduled = true;
    clock.schedule(milliseconds, flush);
  };

  function flush(): void {
    isScheduled = false;
    const batch = waiting.slice(0, MAX_EVENTS_PER_TASK);
    waiting = waiting.slice(MAX_EVENTS_PER_TASK);
    view = reduceSession(view, batch);
    if (waiting.length > 0) return schedule(0);
    if (isLive) publish({ view, isLoading: false, error: null });
  }

  return {
    store,
    apply(change) {
      switch (change.type) {
        case "events":
          for (const envelope of change.events) waiting.push(envelope);
          return schedule(FLUSH_MS);
        case "live":
          isLive = true;
          return schedule(0);
        case "gap":
          return publish({ gap: change.error });
        case "restart":
          [view, waiting, isLive] = [empty, [], false];
          return publish({ isLoading: true, gap: null });
        case "ended":
          return publish({ error: change.error, isLoading: false, client: null });
        case "attached": {
          const { clientId, role } = change.frame;
          return publish({ client: { clientId, role } });
        }
        case "refused":
          return;
        default:
          return change satisfies never;
      }
    },
  };
}

function createLoadingSnapshot(view: SessionFold): SessionSnapshot {
  return { view, isLoading: true, error: null, gap: null, client: null };
}
