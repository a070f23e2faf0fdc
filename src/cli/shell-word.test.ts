import { expect, it } from "vitest";
import { shellWord } from "./shell-word.ts";

it("leaves what is plain as it is, and makes one word of anything else that steers neither shell nor terminal", () => {
  expect(shellWord("ses_01abc")).toBe("ses_01abc");
  expect(shellWord("ws://127.0.0.1:4777/acp")).toBe("ws://127.0.0.1:4777/acp");
  expect(shellWord("a; rm -r b")).toBe("'a; rm -r b'");
  expect(shellWord("it's")).toBe(String.raw`'it'\''s'`);
  expect(shellWord("\u001b[2J\n")).toBe(String.raw`'\u{1b}[2J\u{a}'`);
  expect(shellWord("")).toBe("''");
});
