import type { InboxItem } from "../../wire/live/live-frames.ts";
import { getRequestKind, type RequestKind } from "./request/open-request.ts";

/** Null: all. */
export interface InboxFilter {
  readonly agent: string | null;
  readonly kind: RequestKind | null;
}

export const NO_FILTER: InboxFilter = { agent: null, kind: null };

/** The requests of a session, or all requests if the list is not grouped. */
export interface InboxGroup {
  /** Undefined if the list is not grouped. */
  readonly sessionId?: string;
  readonly title: string;
  readonly agent: string;
  readonly items: readonly InboxItem[];
}

export function filterInbox(
  items: readonly InboxItem[],
  { agent, kind }: InboxFilter,
): readonly InboxItem[] {
  return items.filter(
    (item) =>
      (agent === null || item.agent === agent) &&
      (kind === null || getRequestKind(item.request) === kind),
  );
}

/** Sorts by the time of the request, oldest first. Requests of the same time keep a stable order. */
export function sortInbox(items: readonly InboxItem[]): readonly InboxItem[] {
  return [...items].sort(
    (left, right) => left.requestedAt - right.requestedAt || (left.key < right.key ? -1 : 1),
  );
}

/** Groups by session. The session with the oldest request is first. */
export function groupInbox(items: readonly InboxItem[], isGrouped: boolean): readonly InboxGroup[] {
  if (!isGrouped) return items.length === 0 ? [] : [{ title: "", agent: "", items }];
  const groups = new Map<string, InboxItem[]>();
  for (const item of items) {
    const group = groups.get(item.sessionId);
    if (group === undefined) groups.set(item.sessionId, [item]);
    else group.push(item);
  }
  return [...groups].flatMap(([sessionId, members]) => {
    const [first] = members;
    if (first === undefined) return [];
    return [{ sessionId, title: nameSession(first), agent: first.agent, items: members }];
  });
}

export function nameSession({ title }: Pick<InboxItem, "title">): string {
  return title === null || title.trim() === "" ? "Untitled session" : title;
}

/** The agents and kinds which occur, with their counts, for the filter. */
export interface InboxFacets {
  readonly agents: readonly Facet<string>[];
  readonly kinds: readonly Facet<RequestKind>[];
}

export interface Facet<Value> {
  readonly value: Value;
  readonly count: number;
}

export function countFacets(items: readonly InboxItem[]): InboxFacets {
  return {
    agents: countValues(items.map(({ agent }) => agent)),
    kinds: countValues(items.map(({ request }) => getRequestKind(request))),
  };
}

function countValues<Value>(values: readonly Value[]): readonly Facet<Value>[] {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => ({ value, count }));
}

/** Removes a filter without matching requests: an old filter must not hide new requests. */
export function relaxFilter(filter: InboxFilter, items: readonly InboxItem[]): InboxFilter {
  const { agents, kinds } = countFacets(items);
  const agent = agents.some(({ value }) => value === filter.agent) ? filter.agent : null;
  const kind = kinds.some(({ value }) => value === filter.kind) ? filter.kind : null;
  return agent === filter.agent && kind === filter.kind ? filter : { agent, kind };
}
