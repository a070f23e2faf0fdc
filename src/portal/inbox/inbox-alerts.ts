import type { InboxItem } from "../../wire/live/live-frames.ts";
import { pluralize } from "../../text/pluralize.ts";
import { nameSession } from "./inbox-list.ts";
import { describeRequest } from "./request/describe-request.ts";
import { nameRequest } from "./request/open-request.ts";

/** A browser notification about a request. */
export interface RequestAlert {
  readonly key: string;
  readonly sessionId: string;
  readonly title: string;
  readonly body: string;
}

/** The known requests, and the requests with an open notification. */
export interface AlertState {
  /** Null before the first list: its requests are not new. */
  readonly known: ReadonlySet<string> | null;
  readonly notified: ReadonlySet<string>;
}

export const NO_ALERTS: AlertState = { known: null, notified: new Set() };

export interface AlertPlan {
  readonly state: AlertState;
  /** New requests, with or without a notification. */
  readonly added: readonly RequestAlert[];
  readonly open: readonly RequestAlert[];
  /** Keys of the notifications to close. */
  readonly close: readonly string[];
  /** Number of closed requests. */
  readonly removedCount: number;
}

/** Limit of open notifications. */
const MAX_OPEN = 5;

/** Compares the inbox with the known requests. `isEnabled`: the person asked for notifications and is not looking. */
export function planAlerts(
  { known, notified }: AlertState,
  items: readonly InboxItem[],
  isEnabled: boolean,
): AlertPlan {
  const keys = new Set(items.map(({ key }) => key));
  const added = known === null ? [] : items.filter(({ key }) => !known.has(key)).map(createAlert);
  const close = [...notified].filter((key) => !keys.has(key));
  const remaining = [...notified].filter((key) => keys.has(key));
  const open = isEnabled ? added.slice(0, Math.max(0, MAX_OPEN - remaining.length)) : [];
  const state = { known: keys, notified: new Set([...remaining, ...open.map(({ key }) => key)]) };
  const removedCount = [...(known ?? [])].filter((key) => !keys.has(key)).length;
  return { state, added, open, close, removedCount };
}

function createAlert(item: InboxItem): RequestAlert {
  const { key, sessionId, agent, request } = item;
  const sentence = describeRequest(request);
  return {
    key,
    sessionId,
    title: `${agent}: ${nameRequest(request)}`,
    body: `${sentence.length > 160 ? `${sentence.slice(0, 159)}…` : sentence}\n${nameSession(item)}`,
  };
}

/** The text read out by screen readers after a change. Undefined without new or closed requests. */
export function formatAnnouncement(
  { added, removedCount }: Pick<AlertPlan, "added" | "removedCount">,
  waiting: number,
): string | undefined {
  const total = `${pluralize(waiting, "request")} waiting`;
  const [first] = added;
  if (first === undefined)
    return removedCount === 0
      ? undefined
      : `${pluralize(removedCount, "request")} closed. ${total}.`;
  const title =
    added.length === 1 ? `New request from ${first.title}` : `${added.length} new requests`;
  return `${title}. ${total}.`;
}

/** Puts the number of waiting requests before the title of the page: `(3) Fix the tests · Spanline`. */
export function formatTabTitle(title: string | null, waiting: number): string {
  const name = title === null || title.trim() === "" ? "Spanline" : `${title} · Spanline`;
  if (waiting === 0) return name;
  return `(${waiting > 99 ? "99+" : waiting}) ${name}`;
}
