import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyEdit, findNearestLine } from "./apply-edit.ts";

const edit = (text: string, oldText: string, newText: string, replaceAll = false) =>
  applyEdit(text, { oldText, newText, replaceAll });

describe("Edits", () => {
  it("A unique text is replaced", () => {
    expect(edit("a b c", "b", "x")).toEqual({ text: "a x c", lines: [1] });
    expect(edit("a\nb\nc", "b\n", "")).toEqual({ text: "a\nc", lines: [2] });
  });

  it("Replacement patterns such as $& in the new text have no special meaning", () => {
    expect(edit("a", "a", "$& $1 $$")).toMatchObject({ text: "$& $1 $$" });
  });

  it("An edit matches lines that end with \r\n, and writes the same line ends", () => {
    const text = "one\r\ntwo\r\nthree\r\n";
    expect(edit(text, "one\ntwo\n", "1\n2\n")).toEqual({ text: "1\r\n2\r\nthree\r\n", lines: [1] });
    expect(edit(text, "\ntwo", "\nTWO")).toEqual({ text: "one\r\nTWO\r\nthree\r\n", lines: [1] });
    expect(edit(text, "two", "2\n2b")).toMatchObject({ text: "one\r\n2\r\n2b\r\nthree\r\n" });
    expect(edit("one\ntwo\n", "one\r\ntwo", "x")).toMatchObject({ text: "x\n" });
  });

  it("Other lines keep their line ends in a text with mixed line ends", () => {
    expect(edit("a\nb\r\nc\nd\n", "b\nc", "x\ny")).toMatchObject({ text: "a\nx\ny\nd\n" });
  });

  it("An edit changes a single place", () => {
    const texts = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r\n"), maxLength: 30 });
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const made = edit(`${before}NEEDLE${after}`, "NEEDLE", "pin");
        expect(made).toMatchObject({ text: `${before}pin${after}` });
      }),
    );
  });

  it("Several matches are reported with their lines, and all are replaced with replace_all", () => {
    expect(edit("a\na\nb a", "a", "x")).toMatchObject({
      problem: "unclear",
      message: expect.stringContaining("3 times, at lines 1, 2, 3;"),
    });
    expect(edit("a\na\nb a", "a", "x", true)).toEqual({ text: "x\nx\nb x", lines: [1, 2, 3] });
    expect(edit("a\n".repeat(20), "a", "x")).toMatchObject({
      message: expect.stringContaining("9, 10, …;"),
    });
  });
});

describe("The nearest line", () => {
  it("The most similar line is found, and no line if none is similar", () => {
    const text = "function one() {\n  return 1;\n}\n\nfunction two() {\n  return 2;\n}";
    expect(findNearestLine(text, "function  two(){\n return 2")).toEqual({
      line: 5,
      text: '"function two() {"',
    });
    expect(findNearestLine(text, "something else entirely")).toBe(undefined);
    expect(findNearestLine(text, "\n \n")).toBe(undefined);
    expect(findNearestLine("", "a")).toBe(undefined);
  });
});
