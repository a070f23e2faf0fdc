import { describe, expect, it } from "vitest";
import type { SessionUpdate } from "../../../host/index.ts";
import { PLAIN_STYLE } from "../../../inspect/trace-style.ts";
import { createChatUpdates } from "./chat-updates.ts";
import { createMarkStyle } from "../../markdown/mark-style.ts";

/** Creates a page that records its permanent and temporary rows. */
function page(width = 30) {
  const rows: string[] = [];
  let open: readonly string[] = [];
  let now = 0;
  const updates = createChatUpdates({
    page: { print: (more) => void rows.push(...more), show: (next) => void (open = next), width },
    style: PLAIN_STYLE,
    marks: createMarkStyle(PLAIN_STYLE, null),
    formatShowCommand: () => undefined,
    describeWait: () => undefined,
    clock: { monotonic: () => now },
    footerRows: () => [],
  });
  return {
    rows,
    updates,
    open: () => open,
    wait: (milliseconds: number) => void (now += milliseconds),
    tell: (update: SessionUpdate) => updates.show({ update, isHistory: false }),
  };
}

function text(content: string, messageId = "m1"): SessionUpdate {
  return { type: "agent-text", messageId, text: content, content: [] };
}

describe("The updates of a session on a page", () => {
  it("A blank row separates different sources", () => {
    const { rows, updates, tell } = page();
    updates.showPrompt("Hello");
    tell(text("One.\n"));
    tell(text("Two.\n"));
    tell(text("Three.", "m2"));
    updates.endTurn();
    expect(rows).toEqual(["› Hello", "", "One.", "Two.", "", "Three."]);
  });

  it("No row is wider than the page, whatever its source", () => {
    const { rows, updates, tell } = page();
    const words = "some words that go on for longer than a row";
    updates.showPrompt(words);
    tell({ type: "extension", name: "log", fields: { message: words } });
    const entries = [{ content: words, priority: "medium", status: "in_progress" }];
    tell({ type: "plan", entries });
    expect(rows).toEqual([
      "› some words that go on for",
      "  longer than a row",
      "",
      "! some words that go on for",
      "  longer than a row",
      "",
      "Plan",
      "  ▸ some words that go on for",
      "    longer than a row",
    ]);
  });

  it("A compacted or projected conversation is one line each", () => {
    const { rows, tell } = page();
    const tokens = { estimatedTokensBefore: 9000, estimatedTokensAfter: null };
    const compacted = { archivedMessages: 1, ...tokens };
    tell({ type: "extension", name: "transcript_compacted", fields: compacted });
    const counts = { droppedCount: 2, redactedCount: 0 };
    tell({ type: "extension", name: "transcript_projected", fields: counts });
    tell({ type: "extension", name: "transcript_projected", fields: {} });
    expect(rows.join(" ").replaceAll(/\s+/g, " ")).toBe(
      "· Compacted 1 message: 9,000 tokens before, an unknown number of tokens after " +
        "· Request to the model: 2 blocks left out",
    );
  });

  it("A note within a line stays below it until the line is complete", () => {
    const { rows, updates, tell, open } = page();
    tell(text("One and"));
    updates.note(["A note."]);
    expect([rows, open()]).toEqual([[], ["One and", "A note."]]);
    tell(text(" two.\n"));
    expect([rows, open()]).toEqual([["One and two.", "", "A note."], []]);
  });

  it("A line without updates for a while is ended before a note", () => {
    const { rows, updates, tell, wait } = page();
    tell(text("One and"));
    wait(1000);
    updates.note(["A note."]);
    expect(rows).toEqual(["One and", "", "A note."]);
  });
});
