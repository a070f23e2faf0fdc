import { describe, expect, it } from "vitest";
import { formatExtension } from "./format-extension.ts";

describe("Lines of vendor updates in the chat", () => {
  it.each([
    ["log", { level: "warn", message: "Lost" }, { sign: "!", text: "Lost", tone: "warn" }],
    ["log", { level: "info", message: "Warm" }, { sign: "·", text: "Warm" }],
    [
      "progress",
      { phase: "narration", message: "Reading", progress: 3, total: 10 },
      { sign: "…", text: "Reading (3 of 10)" },
    ],
    ["progress", { phase: "tool", message: "Reading" }, undefined],
    [
      "artifact",
      { kind: "table", title: "Sales", fallback: "a | b\n1 | 2" },
      { sign: "◆", text: "table: Sales\na | b\n1 | 2" },
    ],
    [
      "handoff",
      { handoff: { target_persona_or_human: { label: "Ada" }, task: "Review" } },
      { sign: "→", text: "Handoff to Ada: Review" },
    ],
    [
      "fs_watch",
      {
        events: [
          { kind: "modify", relative_paths: ["a.ts", "b.ts"], error: null },
          { kind: "error", relative_paths: [], error: "2 more changes" },
        ],
      },
      { sign: "·", text: "Files changed: modify a.ts, b.ts; 2 more changes" },
    ],
    ["artifact", { kind: 1 }, undefined],
    ["handoff", {}, undefined],
    ["worker_update", {}, undefined],
  ])("The update %s with %j becomes its line", (name, fields, line) => {
    expect(formatExtension(name, fields)).toEqual(line);
  });

  it("A long artifact is cut to 20 lines", () => {
    const fallback = Array.from({ length: 50 }, (_, at) => String(at)).join("\n");
    const { text = "" } = formatExtension("artifact", { kind: "table", fallback }) ?? {};
    expect(text.split("\n")).toHaveLength(22);
    expect(text.endsWith("…")).toBe(true);
  });
});
