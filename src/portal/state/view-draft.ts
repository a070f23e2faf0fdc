import type { FoldFacts, SessionFold } from "./session-fold.ts";
import type {
  NoticeItem,
  ThreadItem,
  ThreadItemKind,
  TurnStage,
  TurnView,
} from "./session-view.ts";
import type { Envelope } from "../../domain/events/envelope.ts";

/**
 * The id of a first entry in `turns` without a prompt: imported history, and notices from before the first turn. The
 * entry exists only if there are such items.
 */
export const BEFORE_TURNS = "before";

/** The place of an item. Items are only appended, so a place stays valid. */
interface Place {
  readonly turn: number;
  readonly item: number;
}

/** Places by item key and by approval id. */
interface ViewIndex {
  readonly items: Map<string, Place>;
  readonly approvals: Map<string, string>;
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
type OpenTurn = Mutable<TurnView> & { items: ThreadItem[] };

/**
 * The index of the newest view of each session. A batch of events takes the index of its view and leaves the index to
 * the resulting view; the index of another view is made from its items. The index saves time only: a view alone
 * determines the next view.
 */
const indexes = new WeakMap<SessionFold, ViewIndex>();

/**
 * A view during a batch of events. Turns are copied at their first change in the batch, so the cost of a
 * batch is linear in its events and in the length of the changed turns, and unchanged turns stay identical.
 */
export class ViewDraft {
  readonly view: Mutable<SessionFold>;
  readonly #index: ViewIndex;
  readonly #open = new Map<number, OpenTurn>();
  #turns: TurnView[] | undefined;

  constructor(before: SessionFold) {
    this.view = { ...before };
    this.#index = indexes.get(before) ?? createIndex(before);
    indexes.delete(before);
  }

  finish(): SessionFold {
    indexes.set(this.view, this.#index);
    return this.view;
  }

  setFacts(facts: Partial<FoldFacts>): void {
    this.view.facts = { ...this.view.facts, ...facts };
  }

  addTurn(turn: TurnView): void {
    this.#ownTurns().push(turn);
  }

  /** The last turn. Undefined before the first. */
  get lastTurn(): TurnView | undefined {
    return this.view.turns.at(-1);
  }

  /** Changes the last turn. Does nothing before the first. */
  changeLastTurn(change: Partial<TurnView>): void {
    const turn = this.#openTurn(this.view.turns.length - 1);
    if (turn !== undefined) Object.assign(turn, change);
  }

  /** Adds an item to the last turn. An item with a known key replaces the earlier item. */
  addItem(item: ThreadItem): void {
    const known = this.#index.items.get(item.key);
    if (known !== undefined) return this.#setItem(known, item);
    if (this.view.turns.length === 0) this.addTurn(createEntryBeforeTurns(item.at));
    const turn = this.view.turns.length - 1;
    const items = this.#openTurn(turn)?.items ?? [];
    this.#index.items.set(item.key, { turn, item: items.length });
    items.push(item);
  }

  addNotice(
    { seq, at }: Envelope,
    level: NoticeItem["level"],
    text: string,
    details?: string,
  ): void {
    const key = `notice:${seq}`;
    this.addItem({
      kind: "notice",
      key,
      at,
      seq,
      level,
      text,
      ...(details !== undefined && { details }),
    });
  }

  findItem<Kind extends ThreadItemKind>(
    kind: Kind,
    key: string,
  ): Extract<ThreadItem, { readonly kind: Kind }> | undefined {
    const place = this.#index.items.get(key);
    if (place === undefined) return undefined;
    const item = this.view.turns[place.turn]?.items[place.item];
    return item !== undefined && isOfKind(item, kind) ? item : undefined;
  }

  replaceItem(item: ThreadItem): void {
    const place = this.#index.items.get(item.key);
    if (place !== undefined) this.#setItem(place, item);
  }

  /** Remembers the item which shows an approval. */
  linkApproval(approvalId: string, itemKey: string): void {
    this.#index.approvals.set(approvalId, itemKey);
  }

  findApprovalItem(approvalId: string): ThreadItem | undefined {
    const key = this.#index.approvals.get(approvalId);
    const place = key === undefined ? undefined : this.#index.items.get(key);
    return place === undefined ? undefined : this.view.turns[place.turn]?.items[place.item];
  }

  /** Sets the stage of the running turn from the facts. */
  updateStage(): void {
    const turn = this.lastTurn;
    if (turn === undefined || turn.end !== null) return;
    const stage = this.#computeStage();
    if (stage !== turn.stage) this.changeLastTurn({ stage });
  }

  #computeStage(): TurnStage {
    const { openApprovals, facts } = this.view;
    if (openApprovals.length > 0) return "person";
    if (facts.runningTools.length > 0) return "tool";
    if (facts.isPaused) return "results";
    return facts.isInvoking ? "model" : "starting";
  }

  #setItem({ turn, item: position }: Place, item: ThreadItem): void {
    const open = this.#openTurn(turn);
    if (open !== undefined) open.items[position] = item;
  }

  #ownTurns(): TurnView[] {
    this.#turns ??= [...this.view.turns];
    this.view.turns = this.#turns;
    return this.#turns;
  }

  #openTurn(position: number): OpenTurn | undefined {
    const known = this.#open.get(position);
    if (known !== undefined) return known;
    const turns = this.#ownTurns();
    const turn = turns[position];
    if (turn === undefined) return undefined;
    const open = { ...turn, items: [...turn.items] };
    turns[position] = open;
    this.#open.set(position, open);
    return open;
  }
}

function isOfKind<Kind extends ThreadItemKind>(
  item: ThreadItem,
  kind: Kind,
): item is Extract<ThreadItem, { readonly kind: Kind }> {
  return item.kind === kind;
}

function createEntryBeforeTurns(at: number): TurnView {
  return {
    turnId: BEFORE_TURNS,
    promptId: BEFORE_TURNS,
    principal: null,
    startedAt: at,
    end: { at, outcome: "completed", reason: null, steps: 0, usage: null },
    stage: "done",
    items: [],
    usage: null,
  };
}

function createIndex({ turns }: SessionFold): ViewIndex {
  const index: ViewIndex = { items: new Map(), approvals: new Map() };
  for (const [turn, { items }] of turns.entries()) {
    for (const [position, item] of items.entries()) {
      index.items.set(item.key, { turn, item: position });
      for (const approvalId of listApprovals(item)) index.approvals.set(approvalId, item.key);
    }
  }
  return index;
}

function listApprovals(item: ThreadItem): readonly string[] {
  if (item.kind === "tool") return item.approvals.map(({ approvalId }) => approvalId);
  return item.kind === "approval" ? [item.approval.approvalId] : [];
}
