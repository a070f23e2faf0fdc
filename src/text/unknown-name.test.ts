import { describe, expect, it } from "vitest";
import { formatNames, formatUnknownName, suggestFix } from "./unknown-name.ts";

const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `agent-${at}`);

describe("formatUnknownName", () => {
  it("A message names the kind, the name and the known names", () => {
    expect(formatUnknownName("Agent", "nope", { names: ["demo", "reviewer"] })).toBe(
      'Agent "nope" does not exist: expected "demo" or "reviewer"',
    );
  });

  it("A similar name is suggested after a short list", () => {
    expect(formatUnknownName("Agent", "dmeo", { names: ["demo", "reviewer"] })).toBe(
      'Agent "dmeo" does not exist: expected "demo" or "reviewer". Fix: did you mean "demo"?',
    );
  });

  it("A similar name replaces a list of more than five names", () => {
    const names = ["read_file", "b", "c", "d", "e"];
    expect(formatUnknownName("Tool", "reed_file", { names })).toBe(
      'Tool "reed_file" does not exist: expected "read_file", "b", "c", "d" or "e". Fix: did you mean "read_file"?',
    );
    expect(formatUnknownName("Tool", "reed_file", { names: [...names, "f"] })).toBe(
      'Tool "reed_file" does not exist. Fix: did you mean "read_file"?',
    );
  });

  it("Without known names the message reveals none", () => {
    expect(formatUnknownName("Session", "ses_1")).toBe('Session "ses_1" does not exist');
    expect(formatUnknownName("Session", "ses_1", { names: [] })).toBe(
      'Session "ses_1" does not exist',
    );
  });

  it("Unlisted names appear only as the suggestion", () => {
    const known = { names: ["ses_12"], isListed: false };
    expect(formatUnknownName("Session", "unlike", known)).toBe('Session "unlike" does not exist');
    expect(formatUnknownName("Session", "ses_13", known)).toBe(
      'Session "ses_13" does not exist. Fix: did you mean "ses_12"?',
    );
  });

  it("The place of the lookup follows the verb, and a suggestion replaces the fix", () => {
    const known = { names: ["msg_1"], where: "in this list", fix: "omit after" };
    expect(formatUnknownName("Item", "other", known)).toBe(
      'Item "other" does not exist in this list: expected "msg_1". Fix: omit after',
    );
    expect(formatUnknownName("Item", "msg_2", known)).toBe(
      'Item "msg_2" does not exist in this list: expected "msg_1". Fix: did you mean "msg_1"?',
    );
  });

  it("A key is shown with its path and compared without its path", () => {
    expect(formatUnknownName("Key", "nam", { path: "serve.keys[0].nam", names: ["name"] })).toBe(
      'Key "serve.keys[0].nam" does not exist: expected "name". Fix: did you mean "name"?',
    );
  });

  it("A long name is cut, and control characters are escaped", () => {
    const message = formatUnknownName("Agent", `\u001b[2J${"x".repeat(100_000)}`, {
      names: ["y".repeat(1000)],
    });
    expect(message).toContain('Agent "\\u001b[2Jxxx');
    expect(message.length).toBeLessThan(400);
  });
});

describe("formatNames", () => {
  it.each([
    [[], "none"],
    [["a"], '"a"'],
    [["a", "b", "a"], '"a" or "b"'],
    [["a", "b", "c"], '"a", "b" or "c"'],
  ])("The names %j are listed as %s", (names, text) => {
    expect(formatNames(names)).toBe(text);
  });

  it("A list has at most 20 names and then the number of the others", () => {
    expect(formatNames(many(20))).toMatch(/"agent-18" or "agent-19"$/);
    expect(formatNames(many(21))).toMatch(/"agent-18", "agent-19" or 1 other$/);
    expect(formatNames(many(100))).toMatch(/"agent-18", "agent-19" or 80 others$/);
  });
});

describe("suggestFix", () => {
  it("The most similar name is suggested", () => {
    expect(suggestFix("tol", ["url", "tool"])).toBe('did you mean "tool"?');
  });

  it.each([7, undefined, "planner", ""])("Nothing is suggested for %j", (name) => {
    expect(suggestFix(name, ["demo"])).toBeUndefined();
  });
});
