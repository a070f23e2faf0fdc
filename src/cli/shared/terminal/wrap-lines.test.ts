import * as fc from "fast-check";
import { expect, it } from "vitest";
import { wrapLines } from "./wrap-lines.ts";

it("Lines that fit, lines without indent and lines of unknown width stay unchanged", () => {
  const text = `  → look\n    short\n${"x".repeat(60)}\n`;
  expect(wrapLines(text, 40)).toBe(text);
  expect(wrapLines(`    ${"x".repeat(60)}`, undefined)).toBe(`    ${"x".repeat(60)}`);
});

it("Colors do not count as width, and each row keeps the indent", () => {
  const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;
  expect(wrapLines(`  ${red("x".repeat(30))}`, 32)).toBe(`  ${red("x".repeat(30))}`);
  expect(wrapLines(`  ${"x".repeat(31)}`, 32)).toBe(`  ${"x".repeat(30)}\n  x`);
});

it("An indented line is broken so that each row is indented and fits the terminal", () => {
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
