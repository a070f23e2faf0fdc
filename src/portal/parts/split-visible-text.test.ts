import { describe, expect, it } from "vitest";
import { splitVisibleText, toVisibleText } from "./split-visible-text.ts";

describe("Untrusted text", () => {
  it("A character which reorders the text around it is shown as an escape", () => {
    expect(splitVisibleText("report\u202efdp.exe", "name")).toEqual([
      { text: "report", isEscape: false },
      { text: "U+202E", isEscape: true },
      { text: "fdp.exe", isEscape: false },
    ]);
  });

  it.each([
    ["a line break in a name", "a\nb", "a[line break]b"],
    ["a zero-width space", "ad\u200bmin", "ad[U+200B]min"],
    ["an escape sequence", "\u001b[31m", "[ESC][31m"],
    ["a tag character outside the basic plane", "a\u{e0041}", "a[U+E0041]"],
  ])("%s is visible", (_, text, visible) => {
    expect(toVisibleText(text)).toBe(visible);
  });

  it.each(["👩‍💻 ❤️ 👍🏽", "العربية", "naïve – 日本語"])("%s is shown unchanged", (text) => {
    expect(toVisibleText(text)).toBe(text);
  });

  it("Code keeps its line breaks and tabs, prose keeps the marks of right-to-left scripts", () => {
    expect(toVisibleText("a\n\tb\u200b", "code")).toBe("a\n\tb[U+200B]");
    expect(toVisibleText("a\u200fb\u2067c", "prose")).toBe("a\u200fb[U+2067]c");
  });
});
