import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createVisibleText, finishVisibleText, appendVisibleText } from "./visible-text.ts";

/** What can be seen of a message that comes in these pieces. */
function seen(...parts: readonly string[]): string {
  const visible = createVisibleText();
  const deltas = parts.map((part) => appendVisibleText(visible, part, 1_000_000));
  const all = deltas.join("") + finishVisibleText(visible, 1_000_000);
  expect(visible.text).toBe(all);
  return all;
}

describe("what can be seen of a text", () => {
  it.each([
    ["Hello\nworld", "Hello\nworld"],
    ["<think>hm, 1 < 2\n</think>Two", "Two"],
    ["A\n<tool_call>{}</tool_call>\nB", "A\n\nB"],
    ["<think>never closed", ""],
    ["Use `<think>` for that", "Use `<think>` for that"],
    ["<thin", "<thin"],
    ["<thinker>is no tag</thinker>", "<thinker>is no tag</thinker>"],
    ["<<think>x</think>", "<<think>x</think>"],
    ["<think>a</think><thinking>b</thinking>C", "C"],
  ])("of %j is %j", (text, expected) => {
    expect(seen(text)).toBe(expected);
  });

  it("does not depend on where the text is cut [B-057] [W-43]", () => {
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

  it("is kept whole only as far as it can be told whole", () => {
    const visible = createVisibleText();
    appendVisibleText(visible, "abc", 4);
    expect(visible.text).toBe("abc");
    expect(appendVisibleText(visible, "de", 4)).toBe("de");
    expect(visible).toMatchObject({ text: undefined, length: 5 });
  });

  it("is not looked at again for each piece [W-43]", () => {
    const visible = createVisibleText();
    const open = "<think>" + "x".repeat(1000);
    appendVisibleText(visible, open, 10);
    // All that is kept of what is hidden is what may be the beginning of its end.
    expect(visible.pendingText.length).toBeLessThan("</think>".length);
    appendVisibleText(visible, "</think>" + "y".repeat(1000), 10);
    expect(visible.pendingText).toBe("");
  });
});
