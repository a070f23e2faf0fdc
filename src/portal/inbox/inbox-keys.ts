import type { ApprovalDecision } from "../../domain/policy/approval-decision.ts";
import type { InboxItem } from "../../wire/live/live-frames.ts";
import { DEAD_ZONE_MS } from "./request/dead-zone.ts";
import { findApproval, findDenial, isEditable } from "./request/request-choices.ts";
import type { RequestDetails } from "./request/open-request.ts";

/** The current card, the selected cards, and the open panel or dialog. */
export interface InboxFocus {
  /** Key of the card which the keyboard acts on. Null: none. */
  readonly current: string | null;
  /** When another card became the current card without a key press or a decision. Null: never. */
  readonly displacedAt: number | null;
  readonly selected: ReadonlySet<string>;
  readonly panel: InboxPanel | null;
}

/** `deny` and `edit` belong to the current card; `batch` asks to confirm a decision about the selected cards. */
export type InboxPanel =
  | { readonly type: "deny" | "edit"; readonly key: string }
  | { readonly type: "batch"; readonly yes: boolean; readonly keys: readonly string[] };

export const INITIAL_FOCUS: InboxFocus = {
  current: null,
  displacedAt: null,
  selected: new Set(),
  panel: null,
};

/** The effect of a key in addition to the change of the focus. */
export type InboxEffect =
  | { readonly type: "decide"; readonly key: string; readonly decision: ApprovalDecision }
  | { readonly type: "open-session"; readonly key: string }
  /** The card needs an entry, or a choice without a key: the first control of the card gets the focus. */
  | { readonly type: "enter-card"; readonly key: string }
  | { readonly type: "explain"; readonly text: string };

export interface KeyContext {
  /** The visible cards, in order. */
  readonly items: readonly InboxItem[];
  readonly now: number;
  /** Whether a decision of this card was already sent. */
  readonly isSettling: (key: string) => boolean;
  /** The reason why decisions are disabled. Undefined if decisions are possible. */
  readonly blockReason: string | undefined;
}

export interface KeyResult {
  readonly focus: InboxFocus;
  readonly effect?: InboxEffect;
}

/** Applies a key press. Returns undefined for a key which the inbox does not use: the browser handles the key. */
export function pressKey(
  focus: InboxFocus,
  key: string,
  context: KeyContext,
): KeyResult | undefined {
  if (key === "Escape") return closeTop(focus);
  if (isModal(focus.panel)) return undefined;
  switch (key) {
    case "j":
    case "ArrowDown":
      return { focus: moveCurrent(focus, context.items, 1) };
    case "k":
    case "ArrowUp":
      return { focus: moveCurrent(focus, context.items, -1) };
    default:
      return pressCardKey(focus, key, context);
  }
}

/** A dialog handles all keys. The keys of the fields in a card's panel are not sent to this function. */
function isModal(panel: InboxPanel | null): boolean {
  return panel?.type === "batch";
}

function closeTop(focus: InboxFocus): KeyResult | undefined {
  if (focus.panel !== null) return { focus: { ...focus, panel: null } };
  return focus.selected.size === 0 ? undefined : { focus: { ...focus, selected: new Set() } };
}

function moveCurrent(focus: InboxFocus, items: readonly InboxItem[], step: 1 | -1): InboxFocus {
  const at = items.findIndex(({ key }) => key === focus.current);
  const next = at === -1 ? 0 : Math.min(Math.max(at + step, 0), items.length - 1);
  return { ...focus, current: items[next]?.key ?? null, displacedAt: null };
}

function pressCardKey(focus: InboxFocus, key: string, context: KeyContext): KeyResult | undefined {
  const item = context.items.find((one) => one.key === focus.current);
  if (item === undefined) return undefined;
  switch (key) {
    case "x":
      return { focus: toggleSelected(focus, item.key) };
    case "Enter":
      return { focus, effect: { type: "open-session", key: item.key } };
    case "a":
    case "d":
    case "A":
    case "e":
      return decideByKey(focus, key, item, context);
    default:
      return undefined;
  }
}

export function toggleSelected(focus: InboxFocus, key: string): InboxFocus {
  const selected = new Set(focus.selected);
  if (!selected.delete(key)) selected.add(key);
  return { ...focus, selected };
}

type DecisionKey = "a" | "d" | "A" | "e";

function decideByKey(
  focus: InboxFocus,
  key: DecisionKey,
  item: InboxItem,
  context: KeyContext,
): KeyResult {
  const { blockReason, items, now, isSettling } = context;
  const { panel } = focus;
  if (blockReason !== undefined) return explain(focus, blockReason);
  if (focus.selected.size > 0 && (key === "a" || key === "d"))
    return { focus: openBatch(focus, items, key === "a") };
  if (isDisplaced(focus, now))
    return explain(focus, "The list changed just now. Check the request, then press the key again");
  if (isSettling(item.key)) return explain(focus, "A decision about this request is being sent");
  if (panel?.type === "edit" && panel.key === item.key)
    return explain(focus, "The arguments are being edited: allow or cancel the edit first");
  if (key === "e") return openEditor(focus, item);
  if (key === "d") return openDenial(focus, item);
  const decision = key === "A" ? findGrant(item.request) : findApproval(item.request);
  if (decision === undefined && key === "A")
    return explain(focus, "This request cannot be allowed for the whole session");
  if (decision === undefined) return { focus, effect: { type: "enter-card", key: item.key } };
  return {
    focus: advance(focus, items, item.key),
    effect: { type: "decide", key: item.key, decision },
  };
}

function explain(focus: InboxFocus, text: string): KeyResult {
  return { focus, effect: { type: "explain", text } };
}

function findGrant({ options }: RequestDetails): ApprovalDecision | undefined {
  return options.find((option) => option === "allow-always");
}

function openEditor(focus: InboxFocus, { key, request }: InboxItem): KeyResult {
  if (!isEditable(request)) return explain(focus, "This request has no arguments to edit");
  return { focus: { ...focus, panel: { type: "edit", key } } };
}

function openDenial(focus: InboxFocus, { key, request }: InboxItem): KeyResult {
  if (findDenial(request) === undefined)
    return explain(focus, "This request cannot be declined: it waits until someone accepts");
  return { focus: { ...focus, panel: { type: "deny", key } } };
}

/** Opens the confirmation of a decision about the selected cards. */
export function openBatch(
  focus: InboxFocus,
  items: readonly InboxItem[],
  yes: boolean,
): InboxFocus {
  const keys = listBatch(focus.selected, items, yes).map(({ key }) => key);
  return { ...focus, panel: { type: "batch", yes, keys } };
}

/** The selected cards which can be allowed, or denied, without an entry. */
export function listBatch(
  selected: ReadonlySet<string>,
  items: readonly InboxItem[],
  yes: boolean,
): readonly InboxItem[] {
  return items.filter(({ key, request }) => {
    if (!selected.has(key) || request.question !== "run") return false;
    return (yes ? findApproval(request) : findDenial(request)) !== undefined;
  });
}

/** Moves the focus to the next card, so that the removal of the decided card does not change the focus. */
export function advance(
  focus: InboxFocus,
  items: readonly InboxItem[],
  decided: string,
): InboxFocus {
  const selected = new Set(focus.selected);
  selected.delete(decided);
  const at = items.findIndex(({ key }) => key === decided);
  const current =
    focus.current === decided ? ((items[at + 1] ?? items[at - 1])?.key ?? null) : focus.current;
  return { current, displacedAt: null, selected, panel: null };
}

/** Adapts the focus to changed cards. A removed current card is replaced by the card at its place. */
export function followItems(
  focus: InboxFocus,
  previous: readonly InboxItem[],
  { items, now }: Pick<KeyContext, "items" | "now">,
): InboxFocus {
  const open = new Set(items.map(({ key }) => key));
  const selected = [...focus.selected].filter((key) => open.has(key));
  const isPanelValid = isPanelOpen(focus.panel, open);
  const isCurrentOpen = focus.current === null || open.has(focus.current);
  if (isCurrentOpen && isPanelValid && selected.length === focus.selected.size) return focus;
  const next = {
    ...focus,
    selected: new Set(selected),
    panel: isPanelValid ? focus.panel : null,
  };
  if (isCurrentOpen) return next;
  const at = previous.findIndex(({ key }) => key === focus.current);
  const later = previous.slice(at + 1).find(({ key }) => open.has(key));
  const current = (later ?? items.at(-1))?.key ?? null;
  return { ...next, current, displacedAt: now };
}

/** A panel about a card which has left is closed: its decision would be refused. */
function isPanelOpen(panel: InboxPanel | null, open: ReadonlySet<string>): boolean {
  if (panel === null) return true;
  return panel.type === "batch" ? panel.keys.some((key) => open.has(key)) : open.has(panel.key);
}

function isDisplaced({ displacedAt }: InboxFocus, now: number): boolean {
  return displacedAt !== null && now - displacedAt < DEAD_ZONE_MS;
}
