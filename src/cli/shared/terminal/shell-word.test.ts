import { expect, it } from "vitest";
import { quoteShellWord } from "./shell-word.ts";

it("Plain words stay unchanged; other strings are quoted so they control neither the shell nor the terminal", () => {
  expect(quoteShellWord("ses_01abc")).toBe("ses_01abc");
  expect(quoteShellWord("ws://127.0.0.1:4777/acp")).toBe("ws://127.0.0.1:4777/acp");
  expect(quoteShellWord("a; rm -r b")).toBe("'a; rm -r b'");
  expect(quoteShellWord("it's")).toBe(String.raw`'it'\''s'`);
  expect(quoteShellWord("\u001b[2J\n")).toBe(String.raw`'\u{1b}[2J\u{a}'`);
  expect(quoteShellWord("")).toBe("''");
});
