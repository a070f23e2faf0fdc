import { expect, it } from "vitest";
import { createInboxItem, SAMPLE_TIME } from "../../../test/support/portal/inbox-items.ts";
import { readComposerKey } from "../composer/composer-keys.ts";
import { INITIAL_FOCUS, pressKey } from "../inbox/inbox-keys.ts";
import { KEYBOARD, type KeyGroup } from "./keyboard.ts";

/** Keys as in keyboard events: all printable ASCII characters, and the usual named keys. */
const KEYS = [
  ...Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)),
  ..."Enter Escape Tab Backspace Delete Home End PageUp PageDown F1".split(" "),
  ..."ArrowUp ArrowDown ArrowLeft ArrowRight".split(" "),
];

function listKeys(name: KeyGroup["name"]): readonly string[] {
  const group = KEYBOARD.find((one) => one.name === name);
  return (group?.entries ?? []).flatMap(({ keys }) => keys).toSorted();
}

it("The list of keys names exactly the keys which the inbox handles", () => {
  const item = createInboxItem("appr_1");
  const focus = { ...INITIAL_FOCUS, current: item.key, selected: new Set([item.key]) };
  const context = {
    items: [item],
    now: SAMPLE_TIME,
    isSettling: () => false,
    blockReason: undefined,
  };
  const handled = KEYS.filter((key) => pressKey(focus, key, context) !== undefined);
  expect(handled.toSorted()).toEqual(listKeys("Inbox"));
});

it("The list of keys names exactly the keys which the composer handles", () => {
  const handled = KEYS.filter((key) =>
    [true, false].some((hasCompletion) => {
      const press = { key, shiftKey: false, hasModifier: false, isComposing: false };
      const state = { hasCompletion, isRunning: true, isTouch: false };
      return readComposerKey(press, state) !== undefined;
    }),
  );
  expect(handled.toSorted()).toEqual(listKeys("Composer"));
});
