import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createVisibleText, finishVisibleText, appendVisibleText } from "./visible-text.ts";

/** The visible text of a message in several parts. */
function seen(...parts: readonly string[]): string {
  const visible = createVisibleText();
  const deltas = parts.map((part) => appendVisibleText(visible, part, 1_000_000));
  const all = deltas.join("") + finishVisibleText(visible, 1_000_000);
  expect(visible.text).toBe(all);
  return all;
}

describe("Visible text", () => {
  it.each([
    ["Hello\nworld", "Hello\nworld"],
    ["<think>hm, 1 < 2\n</think>Two", "Two"],
    ["A\n<tool_call>{}</tool_call>\nB", "A\n\nB"],
    ["<think>never closed", ""],
    ["Use `<think>` for that", "Use `<think>` for that"],
    ["<thin", "<thin"],
    ["<thinker>not a tag</thinker>", "<thinker>not a tag</thinker>"],
    ["<<think>x</think>", "<<think>x</think>"],
    ["<think>a</think><thinking>b</thinking>C", "C"],
  ])("The visible text of %j is %j", (text, expected) => {
    expect(seen(text)).toBe(expected);
  });

  it("The visible text does not depend on how the text is split [B-057] [W-43]", () => {
    const word = fc.constantFrom(
      "<think>",
      "</think>",
      "<tool_call>",
      "</tool_call>",
      "\n",
      "a<",
      " ",
    );
    fc.assert(
      fc.property(fc.array(word), fc.array(fc.nat(40)), (words, cuts) => {
        const text = words.join("");
        const parts: string[] = [];
        let rest = text;
        for (const cut of cuts) {
          parts.push(rest.slice(0, cut));
          rest = rest.slice(cut);
        }
        expect(seen(...parts, rest)).toBe(seen(text));
      }),
    );
  });

  it("The whole text is kept only up to its limit", () => {
    const visible = createVisibleText();
    appendVisibleText(visible, "abc", 4);
    expect(visible.text).toBe("abc");
    expect(appendVisibleText(visible, "de", 4)).toBe("de");
    expect(visible).toMatchObject({ text: undefined, length: 5 });
  });

  it("Hidden text is not buffered [W-43]", () => {
    const visible = createVisibleText();
    const open = "<think>" + "x".repeat(1000);
    appendVisibleText(visible, open, 10);
    // Only a possible start of the closing tag is buffered.
    expect(visible.pendingText.length).toBeLessThan("</think>".length);
    appendVisibleText(visible, "</think>" + "y".repeat(1000), 10);
    expect(visible.pendingText).toBe("");
  });
});
