import * as fc from "fast-check";
import { expect, it } from "vitest";
import { wrapLines } from "./wrap-lines.ts";

it("leaves alone what fits, what is not indented, and everything where nobody knows the width", () => {
  const text = `  → look\n    short\n${"x".repeat(60)}\n`;
  expect(wrapLines(text, 40)).toBe(text);
  expect(wrapLines(`    ${"x".repeat(60)}`, undefined)).toBe(`    ${"x".repeat(60)}`);
});

it("counts no colours, and keeps the indent of a question", () => {
  const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;
  expect(wrapLines(`  ${red("x".repeat(30))}`, 32)).toBe(`  ${red("x".repeat(30))}`);
  expect(wrapLines(`  ${"x".repeat(31)}`, 32)).toBe(`  ${"x".repeat(30)}\n  x`);
});

it("breaks an indented line so that the terminal breaks none: each piece is indented", () => {
  fc.assert(
    fc.property(
      fc
        .string({ unit: "grapheme", maxLength: 200 })
        .filter((line) => !line.includes("\n") && !line.includes("\u001b")),
      fc.integer({ min: 24, max: 60 }),
      (line, columns) => {
        const lines = wrapLines(`    ${line}`, columns).split("\n");
        expect(lines.every((one) => one.startsWith("    "))).toBe(true);
        expect(lines.map((one) => one.slice(4)).join("")).toBe(line);
        const widest = Math.max(...lines.map((one) => Array.from(one).length));
        expect(widest).toBeLessThanOrEqual(columns);
      },
    ),
  );
});
