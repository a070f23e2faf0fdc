import type { SessionView, ThreadItem, ThreadItemKind, TurnView } from "../state/session-view.ts";

/** A row of the thread. Rows of unchanged turns are the same objects in the next view. */
export type ThreadRow = TurnHeadRow | ItemRow | TurnFootRow;

interface TurnHeadRow {
  readonly kind: "head";
  readonly key: string;
  readonly turn: TurnView;
  /** Position of the turn in the session, from 1. */
  readonly number: number;
}

interface ItemRow {
  readonly kind: "item";
  readonly key: string;
  readonly item: ThreadItem;
  readonly turn: TurnView;
}

interface TurnFootRow {
  readonly kind: "foot";
  readonly key: string;
  readonly turn: TurnView;
}

/** Returns a function which lists the rows of a view. The rows of unchanged turns are taken from the previous call. */
export function createRowList(): (view: SessionView) => readonly ThreadRow[] {
  let rowsByTurn = new Map<TurnView, readonly ThreadRow[]>();
  return ({ turns }) => {
    const current = new Map<TurnView, readonly ThreadRow[]>();
    for (const [index, turn] of turns.entries())
      current.set(turn, rowsByTurn.get(turn) ?? createTurnRows(turn, index + 1));
    rowsByTurn = current;
    return [...current.values()].flat();
  };
}

function createTurnRows(turn: TurnView, number: number): readonly ThreadRow[] {
  return [
    { kind: "head", key: `head ${turn.turnId}`, turn, number },
    ...turn.items.map((item): ThreadRow => ({ kind: "item", key: item.key, item, turn })),
    { kind: "foot", key: `foot ${turn.turnId}`, turn },
  ];
}

/** Returns the row of an event: the last item which starts at or before the event. -1 if there is none. */
export function findRow(rows: readonly ThreadRow[], seq: number): number {
  return rows.findLastIndex((row) => row.kind === "item" && row.item.seq <= seq);
}

/** Counts the items after a row, for readers who have scrolled up. Reminders, notices and changes of files do not count. */
export function countItemsAfter(rows: readonly ThreadRow[], index: number): number {
  let count = 0;
  for (let at = rows.length - 1; at > index; at--) {
    const row = rows[at];
    if (row?.kind === "item" && !BACKGROUND_KINDS.has(row.item.kind)) count += 1;
  }
  return count;
}

const BACKGROUND_KINDS: ReadonlySet<ThreadItemKind> = new Set<ThreadItemKind>([
  "notice",
  "reminder",
  "files",
]);

/**
 * Returns the rows with open requests to people. They stay rendered while they are scrolled out of view, because their
 * forms contain typed text.
 */
export function findOpenRequests(rows: readonly ThreadRow[]): readonly number[] {
  return rows.flatMap((row, index) =>
    row.kind === "item" && isOpenRequest(row.item) ? index : [],
  );
}

function isOpenRequest(item: ThreadItem): boolean {
  if (item.kind === "approval") return item.approval.resolution === null;
  return item.kind === "tool" && item.approvals.some(({ resolution }) => resolution === null);
}

/** Returns the row with the heading of the turn to which a row belongs. */
export function findTurnHead(rows: readonly ThreadRow[], index: number): number {
  let at = Math.min(index, rows.length - 1);
  while (at > 0 && rows[at]?.kind !== "head") at -= 1;
  return Math.max(0, at);
}

/** Adds indexes to a range of consecutive indexes, in order. */
export function addIndexes(range: readonly number[], indexes: readonly number[]): number[] {
  const [first = 0] = range;
  const last = range.at(-1) ?? -1;
  return [
    ...indexes.filter((index) => index < first),
    ...range,
    ...indexes.filter((index) => index > last),
  ];
}

/** The expected height of a row in pixels, before the row is measured. */
export function estimateHeight(row: ThreadRow | undefined): number {
  if (row === undefined || row.kind !== "item") return 36;
  const { item } = row;
  switch (item.kind) {
    case "text":
      return 24 + 24 * Math.ceil(item.text.length / 90);
    case "user":
      return 72;
    case "tool":
      return item.diffs.length > 0 ? 220 : 40;
    default:
      return 36;
  }
}
