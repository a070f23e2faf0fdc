import { describe, expect, it } from "vitest";
import {
  createInboxItem,
  createQuestion,
  createRequest,
  SAMPLE_TIME,
} from "../../../test/support/portal/inbox-items.ts";
import type { InboxItem } from "../../wire/live/live-frames.ts";
import {
  advance,
  followItems,
  INITIAL_FOCUS,
  listBatch,
  pressKey,
  type InboxFocus,
  type KeyContext,
} from "./inbox-keys.ts";
import { DEAD_ZONE_MS } from "./request/dead-zone.ts";

const a = createInboxItem("a");
const b = createInboxItem("b");
const c = createInboxItem("c", createQuestion({}));
const items = [a, b, c];
const context: KeyContext = {
  items,
  now: SAMPLE_TIME,
  isSettling: () => false,
  blockReason: undefined,
};

function focusOn({ key }: InboxItem, fields: Partial<InboxFocus> = {}): InboxFocus {
  return { ...INITIAL_FOCUS, current: key, ...fields };
}

describe("The keys of the inbox", () => {
  it("The keys j and k move between the cards and stop at the ends", () => {
    const first = pressKey(INITIAL_FOCUS, "j", context)?.focus;
    expect(first?.current).toBe(a.key);
    expect(pressKey(focusOn(a), "j", context)?.focus.current).toBe(b.key);
    expect(pressKey(focusOn(c), "j", context)?.focus.current).toBe(c.key);
    expect(pressKey(focusOn(a), "k", context)?.focus.current).toBe(a.key);
  });

  it("The key a allows the current card, and the next card gets the focus", () => {
    expect(pressKey(focusOn(a), "a", context)).toEqual({
      focus: focusOn(b),
      effect: { type: "decide", key: a.key, decision: "allow" },
    });
    expect(pressKey(focusOn(a), "A", context)?.effect).toEqual({
      type: "decide",
      key: a.key,
      decision: "allow-always",
    });
  });

  it("The keys d and e open the reason and the editor of the current card, and decide nothing", () => {
    expect(pressKey(focusOn(a), "d", context)).toEqual({
      focus: focusOn(a, { panel: { type: "deny", key: a.key } }),
    });
    expect(pressKey(focusOn(a), "e", context)).toEqual({
      focus: focusOn(a, { panel: { type: "edit", key: a.key } }),
    });
  });

  it("The key a moves the focus into a card which needs an answer", () => {
    expect(pressKey(focusOn(c), "a", context)?.effect).toEqual({
      type: "enter-card",
      key: c.key,
    });
  });

  it("Keys without a meaning for the card are explained", () => {
    for (const [key, item] of [
      ["A", c],
      ["e", c],
      ["d", createInboxItem("e", createQuestion({ kind: "escalation" }))],
    ] as const) {
      const result = pressKey(focusOn(item), key, { ...context, items: [item] });
      expect(result?.effect?.type).toBe("explain");
    }
  });

  it("No key decides while a decision is being sent, or without the right", () => {
    for (const key of ["a", "A", "d", "e"]) {
      const settling = { ...context, isSettling: () => true };
      expect(pressKey(focusOn(a), key, settling)?.effect?.type).toBe("explain");
      const blocked = { ...context, blockReason: "No right" };
      expect(pressKey(focusOn(a), key, blocked)?.effect).toEqual({
        type: "explain",
        text: "No right",
      });
    }
  });

  it("A card that became current by itself ignores decisions for 1.5 seconds", () => {
    const moved = followItems(focusOn(a), items, { items: [b, c], now: SAMPLE_TIME });
    expect(moved).toEqual(focusOn(b, { displacedAt: SAMPLE_TIME }));
    const early = { ...context, items: [b, c], now: SAMPLE_TIME + DEAD_ZONE_MS - 1 };
    expect(pressKey(moved, "a", early)?.effect?.type).toBe("explain");
    const later = { ...early, now: SAMPLE_TIME + DEAD_ZONE_MS };
    expect(pressKey(moved, "a", later)?.effect?.type).toBe("decide");
  });

  it("A person who moves to a card on purpose may decide at once", () => {
    const moved = followItems(focusOn(a), items, { items: [b, c], now: SAMPLE_TIME });
    const focus = pressKey(moved, "k", { ...context, items: [b, c] })?.focus ?? moved;
    expect(pressKey(focus, "a", { ...context, items: [b, c] })?.effect?.type).toBe("decide");
  });

  it("The key x selects cards, and the key a then asks to confirm the selected tool calls only", () => {
    let focus: InboxFocus = focusOn(a);
    for (const key of ["x", "j", "j", "x"]) focus = pressKey(focus, key, context)?.focus ?? focus;
    expect(focus.selected).toEqual(new Set([a.key, c.key]));
    expect(pressKey(focus, "a", context)).toEqual({
      focus: { ...focus, panel: { type: "batch", yes: true, keys: [a.key] } },
    });
  });

  it("A batch leaves out interrupted tools, whose outcome must be stated one by one", () => {
    const outcome = createInboxItem(
      "o",
      createRequest({ question: "outcome", options: ["run-again", "deny", "done", "failed"] }),
    );
    const selected = new Set([a.key, outcome.key]);
    expect(listBatch(selected, [a, outcome], false)).toEqual([a]);
  });

  it("Escape closes the panel, then clears the selection, then is handled by the browser", () => {
    const focus = focusOn(a, {
      selected: new Set([a.key]),
      panel: { type: "batch", yes: true, keys: [a.key] },
    });
    const closed = pressKey(focus, "Escape", context)?.focus ?? focus;
    expect(closed.panel).toBeNull();
    const cleared = pressKey(closed, "Escape", context)?.focus ?? closed;
    expect(cleared.selected.size).toBe(0);
    expect(pressKey(cleared, "Escape", context)).toBeUndefined();
  });

  it("An open dialog takes all keys but Escape", () => {
    const focus = focusOn(a, { panel: { type: "batch", yes: true, keys: [a.key] } });
    for (const key of ["a", "j", "x", "?"]) expect(pressKey(focus, key, context)).toBeUndefined();
  });

  it("No key allows a card whose arguments are being edited", () => {
    const focus = focusOn(a, { panel: { type: "edit", key: a.key } });
    for (const key of ["a", "A", "d", "e"])
      expect(pressKey(focus, key, context)?.effect?.type).toBe("explain");
  });

  it("Another card can be decided while a panel is open", () => {
    const focus = focusOn(b, { panel: { type: "deny", key: a.key } });
    expect(pressKey(focus, "a", context)?.effect).toMatchObject({ type: "decide", key: b.key });
  });

  it("Enter opens the session of the current card", () => {
    expect(pressKey(focusOn(b), "Enter", context)?.effect).toEqual({
      type: "open-session",
      key: b.key,
    });
  });

  it("A decided card leaves the selection, and the last card passes the focus back", () => {
    const focus = focusOn(c, { selected: new Set([c.key]) });
    expect(advance(focus, items, c.key)).toEqual(focusOn(b));
  });

  it("A panel about a removed card is closed", () => {
    const focus = focusOn(a, { panel: { type: "edit", key: a.key } });
    expect(followItems(focus, items, { items: [b], now: 1 }).panel).toBeNull();
    expect(followItems(focus, items, { items: [a], now: 1 })).toBe(focus);
  });
});
