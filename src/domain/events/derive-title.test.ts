import { expect, it } from "vitest";
import { deriveTitle } from "./derive-title.ts";

const text = (...texts: readonly string[]) =>
  texts.map((one) => ({ type: "text", text: one }) as const);

it.each<[readonly string[], string | undefined]>([
  [["Hello"], "Hello"],
  [["  Fix   the\tbuild \r\nplease"], "Fix the build"],
  [["", " \n ", "Second part"], "Second part"],
  [["x".repeat(200)], `${"x".repeat(79)}…`],
  [[""], undefined],
  [[], undefined],
])("A session that starts with %j gets the title %j", (texts, title) => {
  expect(deriveTitle(text(...texts))).toBe(title);
});
