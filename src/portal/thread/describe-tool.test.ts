import { describe, expect, it } from "vitest";
import {
  describeDecision,
  describeResolution,
  describeToolInput,
  describeToolStatus,
  isToolNotable,
} from "./describe-tool.ts";
import type { ToolItem } from "../state/session-view.ts";
import { createApproval, createTool } from "../../../test/support/portal/session-views.ts";

describe("The line of a tool call", () => {
  it.each([
    [{ path: "a.txt", command: "ls -l" }, "ls -l"],
    [{ path: "a.txt", lines: 3 }, "a.txt"],
    [{ body: "one\n  two" }, "one two"],
    [{ limit: 3, deep: { a: 1 } }, '{"limit":3,"deep":{"a":1}}'],
    [{}, ""],
  ])("The arguments %j are described as %j", (input, text) => {
    expect(describeToolInput(createTool(1, input))).toBe(text);
  });

  it("Arguments that still arrive are described as written", () => {
    const item = createTool(1, {}, { call: null, inputText: '{"path": "a' });
    expect(describeToolInput(item)).toBe('{"path": "a');
  });

  it("Arguments edited by an approver replace those of the agent", () => {
    const item = createTool(1, { path: "a.txt" }, { editedInput: { path: "b.txt" } });
    expect(describeToolInput(item)).toBe("b.txt");
  });

  it.each<[Partial<ToolItem>, string, boolean]>([
    [{}, "done", false],
    [{ ending: "server" }, "done by the provider", false],
    [{ ending: "cancelled" }, "cancelled", false],
    [{ ending: "denied" }, "denied", true],
    [{ ending: "unknown" }, "outcome unknown", true],
    [{ ending: null, stage: "streaming" }, "preparing", false],
    [{ ending: null, stage: "running" }, "running", true],
    [{ ending: null, stage: "waiting" }, "needs a decision", true],
  ])("A tool call with %j is %s; its card is open by default: %j", (overrides, label, isOpen) => {
    const item = createTool(1, {}, overrides);
    expect([describeToolStatus(item).label, isToolNotable(item)]).toEqual([label, isOpen]);
  });
});

describe("Decisions in words", () => {
  const context = {
    tool: "read_file",
    kind: "read",
    sideEffect: "read_only",
    capabilities: [],
    paths: [],
    repeats: 0,
  } as const;
  const decision = { reason: "", labels: [], context, approvers: 0 };

  it.each([
    [null, "Denied by default"],
    [
      { source: "rules", action: "deny", id: "no secrets", index: 2 } as const,
      "Denied by rules[2] “no secrets”",
    ],
    [
      { source: "default_sensitive_path", action: "deny", id: null, index: 0 } as const,
      "Denied by default_sensitive_path",
    ],
  ])("A decision by the rule %j is described with its place", (rule, text) => {
    expect(describeDecision({ ...decision, action: "deny", rule })).toBe(text);
  });

  it.each([
    [{}, "Allowed by ada"],
    [{ decision: "allow-always" } as const, "Always allowed by ada: read_file of notes.md"],
    [{ principals: ["ada", "bo"] }, "Allowed by ada, bo"],
    [
      { decision: "deny", resolvedBy: "deadline", decidedBy: null } as const,
      "No decision before the deadline: nothing was allowed",
    ],
  ])("The resolution %j is described as %s", (resolution, text) => {
    expect(describeResolution(createApproval(resolution))).toBe(text);
  });
});
