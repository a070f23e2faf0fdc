import { describe, expect, it } from "vitest";
import type { ToolUpdate } from "../../../host/index.ts";
import { PLAIN_STYLE } from "../../../inspect/trace-style.ts";
import { createToolCards } from "./tool-cards.ts";
import { measureText } from "../../markdown/text-width.ts";

function cards(width = 60) {
  return createToolCards({
    style: PLAIN_STYLE,
    width: () => width,
    formatShowCommand: () => "spanline sessions show s",
  });
}

function createUpdate(more: Partial<ToolUpdate>): ToolUpdate {
  return { type: "tool", toolCallId: "t1", isNew: false, bridge: {}, ...more };
}

const text = (content: string) => [{ type: "text", text: content } as const];

describe("The card of a tool call", () => {
  it("A tool call has a row at its start and a row with its duration at its end", () => {
    const all = cards();
    expect(
      all.update(createUpdate({ isNew: true, title: "run_command", status: "pending" })),
    ).toEqual([]);
    expect(all.update(createUpdate({ input: { command: "ls -l" } }))).toEqual([
      "● run_command ls -l",
    ]);
    expect(all.runningRows()).toEqual(["● run_command waits"]);
    expect(all.update(createUpdate({ status: "in_progress" }))).toEqual([]);
    expect(all.runningRows()).toEqual(["● run_command runs"]);
    const bridge = { durationMs: 5000, executionDurationMs: 1234 };
    expect(all.update(createUpdate({ status: "completed", content: text("ok"), bridge }))).toEqual([
      "  ✓ 1.2 s · ok",
    ]);
    expect(all.runningRows()).toEqual([]);
    expect(all.update(createUpdate({ status: "completed" }))).toEqual([]);
  });

  it("A pending tool call shows its reason to wait after its arguments have arrived", () => {
    const describeWait = (): string => "approval by its controller";
    const all = createToolCards({
      style: PLAIN_STYLE,
      width: () => 60,
      formatShowCommand: () => undefined,
      describeWait,
    });
    all.update(createUpdate({ isNew: true, title: "save_note", status: "pending" }));
    expect(all.runningRows()).toEqual(["● save_note waits"]);
    all.update(createUpdate({ input: { text: "milk" } }));
    expect(all.runningRows()).toEqual(["● save_note waits for approval by its controller"]);
    all.update(createUpdate({ status: "in_progress" }));
    expect(all.runningRows()).toEqual(["● save_note runs"]);
  });

  it("The end row names the tool if another tool call started meanwhile", () => {
    const all = cards();
    all.update(createUpdate({ title: "one", input: {} }));
    all.update(createUpdate({ toolCallId: "t2", title: "two", input: {} }));
    const bridge = { errorCategory: "permission_denied" };
    expect(all.update(createUpdate({ status: "failed", bridge }))).toEqual(["  ✗ one denied"]);
  });

  it.each([
    [999, "999 ms"],
    [59_949, "59.9 s"],
    [59_970, "1 min 0 s"],
    [119_700, "2 min 0 s"],
  ])("%d ms are printed as %s", (durationMs, expected) => {
    const rows = cards().update(
      createUpdate({ title: "wait", status: "completed", bridge: { durationMs } }),
    );
    expect(rows).toEqual(["● wait", `  ✓ ${expected}`]);
  });

  it("Long output is shortened, with the command that shows it in full", () => {
    const all = cards(40);
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`).join("\n");
    const rows = all.update(
      createUpdate({ title: "look", status: "completed", content: text(lines) }),
    );
    expect(rows.slice(0, 3)).toEqual(["● look", "  ✓", "    line 0"]);
    expect(rows.slice(-2)).toEqual([
      "    … 14 more rows",
      "    Show all: spanline sessions show s",
    ]);
  });

  it("A single long line is shortened, too", () => {
    const content = text("x".repeat(5000));
    const rows = cards(40).update(createUpdate({ title: "look", status: "completed", content }));
    expect(rows).toHaveLength(2 + 6 + 2);
    expect(rows[2]).toBe(`    ${"x".repeat(36)}`);
  });

  it("Output of line ends only and unclosed fences is formatted in linear time", () => {
    const lines = (content: string) =>
      cards().update(createUpdate({ title: "look", status: "completed", content: text(content) }))
        .length;
    expect(lines(`${"\n".repeat(200_000)}x`)).toBe(2 + 6 + 2);
    expect(lines(`${"`".repeat(20_000)}\n${"abc ".repeat(25_000)}`)).toBe(2 + 6 + 2);
  });

  it("Characters are never cut in half", () => {
    const begun = cards(20).update(
      createUpdate({ title: "look", input: { command: "😀".repeat(40) } }),
    );
    expect(begun).toEqual([`● look ${"😀".repeat(5)}…`]);
  });

  it("A diff is not repeated for the person who reviewed it", () => {
    const diff = { type: "diff", path: "a", oldText: "one\n", newText: "two\n" } as const;
    const end = createUpdate({
      title: "write",
      status: "completed",
      content: [diff, ...text("Written")],
    });
    expect(cards().update(end)).toContain("    + two");
    const toolCards = cards();
    toolCards.markReviewed("t1");
    expect(toolCards.update(end)).toEqual(["● write", "  ✓"]);
  });

  it("A card fits a narrow terminal, whatever the tool's name and changes", () => {
    const all = cards(30);
    const newText = "words that are wider than the terminal is\n";
    const path = "a/long/path/to/a/file/in/folders";
    const diff = { type: "diff", path, oldText: null, newText } as const;
    const title = "a_tool_with_quite_a_long_name_for_a_terminal";
    const end = createUpdate({ title, input: { path: "a" }, status: "completed", content: [diff] });
    const rows = all.update(end);
    expect(rows.filter((row) => measureText(row) > 30)).toEqual([]);
    expect(rows[0]).toBe("● a_tool_wi… a");
  });

  it("Control characters in tool calls are escaped", () => {
    const all = cards();
    const input = { command: "\u001b[2J\u0007" };
    const begun = all.update(createUpdate({ title: "\u001b]0;x\u0007", input }));
    const ended = all.update(createUpdate({ status: "failed", bridge: { error: "\u001b[1mno" } }));
    // oxlint-disable-next-line no-control-regex -- the assertion is about control characters
    expect([...begun, ...ended].join("\n")).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});
