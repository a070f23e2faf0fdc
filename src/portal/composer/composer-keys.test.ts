import { describe, expect, it } from "vitest";
import { readComposerKey, type ComposerKey, type ComposerKeyState } from "./composer-keys.ts";

const idle: ComposerKeyState = { hasCompletion: false, isRunning: false, isTouch: false };

function press(key: string, fields: Partial<ComposerKey> = {}): ComposerKey {
  return { key, shiftKey: false, hasModifier: false, isComposing: false, ...fields };
}

describe("The keys of the message field", () => {
  it("Enter sends, and Shift+Enter inserts a line", () => {
    expect(readComposerKey(press("Enter"), idle)).toBe("send");
    expect(readComposerKey(press("Enter", { shiftKey: true }), idle)).toBeUndefined();
  });

  it("Enter that confirms a character of an input method does not send", () => {
    expect(readComposerKey(press("Enter", { isComposing: true }), idle)).toBeUndefined();
    const composing = press("Escape", { isComposing: true });
    expect(readComposerKey(composing, { ...idle, isRunning: true })).toBeUndefined();
  });

  it("On a touch keyboard Enter inserts a line, and Ctrl+Enter sends", () => {
    const touch = { ...idle, isTouch: true };
    expect(readComposerKey(press("Enter"), touch)).toBeUndefined();
    expect(readComposerKey(press("Enter", { hasModifier: true }), touch)).toBe("send");
  });

  it("The list of commands takes Enter, Tab, the arrows and Escape first", () => {
    const open = { ...idle, hasCompletion: true, isRunning: true };
    expect(readComposerKey(press("Enter"), open)).toBe("complete");
    expect(readComposerKey(press("Tab"), open)).toBe("complete");
    expect(readComposerKey(press("ArrowDown"), open)).toBe("next-completion");
    expect(readComposerKey(press("ArrowUp"), open)).toBe("previous-completion");
    expect(readComposerKey(press("Escape"), open)).toBe("close-completion");
  });

  it("Escape cancels a running turn only", () => {
    expect(readComposerKey(press("Escape"), { ...idle, isRunning: true })).toBe("cancel-turn");
    expect(readComposerKey(press("Escape"), idle)).toBeUndefined();
  });

  it("Other keys belong to the field", () => {
    for (const key of ["a", "Tab", "ArrowUp"])
      expect(readComposerKey(press(key), idle)).toBeUndefined();
  });
});
