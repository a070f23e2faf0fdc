import { describe, expect, it } from "vitest";
import { digestValue } from "../../platform/digest.ts";
import { normalizePlan, toPlanEntries } from "./harn-plan.ts";

describe("Plans in the form harn.plan.v1", () => {
  it("The published plans normalize to the published ids", () => {
    const emitted = normalizePlan("emit_plan", {
      summary: "Ship plan events.",
      steps: [
        { content: "Emit plan event.", status: "completed" },
        { content: "Verify fixtures.", status: "pending" },
      ],
      verification_commands: ["cargo test -p harn-serve acp"],
    });
    const updated = normalizePlan("update_plan", { steps: ["edit"] });
    const ids = [emitted, updated].map((plan) => digestValue(plan).slice(0, 12));
    expect(ids).toEqual(["835c9eaf0b1e", "c4169e9e1acd"]);
  });

  it("Synonyms of fields and statuses are read", () => {
    const plan = normalizePlan("update_plan", {
      explanation: "Adjust after reading.",
      plan: [
        { step: " Read tests. ", status: "done", id: "a" },
        { task: "Patch.", status: "active", priority: "high" },
        { goal: "Wait.", status: "waiting", priority: "urgent" },
        { description: "Skip.", status: "skipped" },
        "Ship.",
        { status: "todo" },
        7,
        null,
      ],
      unknowns: "Which branch?",
      verification: ["npm test", 3, ""],
      approval: { approved: true, reviewers: ["lead"], secret: 1 },
    });
    expect(plan).toEqual({
      _type: "plan_artifact",
      schema_version: "harn.plan.v1",
      tool: "update_plan",
      title: "Plan",
      summary: "Adjust after reading.",
      steps: [
        { id: "a", content: "Read tests.", status: "completed", priority: null },
        { id: "step-2", content: "Patch.", status: "in_progress", priority: "high" },
        { id: "step-3", content: "Wait.", status: "blocked", priority: null },
        { id: "step-4", content: "Skip.", status: "cancelled", priority: null },
        { id: "step-5", content: "Ship.", status: "pending", priority: null },
        { id: "step-7", content: "7", status: "pending", priority: null },
      ],
      assumptions: [],
      open_questions: ["Which branch?"],
      verification_commands: ["npm test", "3"],
      approval: { state: "approved", reviewers: ["lead"] },
    });
  });

  it.each([
    [{ state: "denied" }, "rejected"],
    [{ status: "pending" }, "requested"],
    [{ approved: false }, "rejected"],
    [{ state: "strange" }, "unrequested"],
    ["yes", "unrequested"],
  ])("The approval %j has the state %s", (approval, state) => {
    expect(normalizePlan("emit_plan", { approval }).approval.state).toBe(state);
  });

  it("A plan without steps is one entry: its summary, or a fixed text", () => {
    const entry = { status: "pending", priority: "medium" };
    expect(toPlanEntries(normalizePlan("emit_plan", { summary: "Think." }))).toEqual([
      { content: "Think.", ...entry },
    ]);
    expect(toPlanEntries(normalizePlan("emit_plan", {}))).toEqual([
      { content: "Plan emitted", ...entry },
    ]);
  });

  it("Excess steps and texts are cut", () => {
    const steps = Array.from({ length: 100 }, () => "x".repeat(5000));
    const plan = normalizePlan("emit_plan", { steps, title: "t".repeat(500) });
    expect(plan.steps).toHaveLength(64);
    expect(plan.steps.every(({ content }) => content.length === 1000)).toBe(true);
    expect(plan.title).toHaveLength(200);
  });

  it("A plan with 10,000 steps has 64 steps with unique ids, and no half characters", () => {
    const step = { id: "same", content: `${"x".repeat(999)}😀` };
    const steps = [
      { content: "First", id: "step-2" },
      "Second",
      ...Array.from({ length: 10_000 }, () => step),
    ];
    const plan = normalizePlan("emit_plan", { steps, title: `${"t".repeat(199)}😀` });
    const ids = plan.steps.map(({ id }) => id);
    expect(ids.slice(0, 5)).toEqual(["step-2", "step-2-2", "same", "same-2", "same-3"]);
    expect(new Set(ids).size).toBe(64);
    expect(JSON.stringify(plan)).not.toMatch(/\\ud[89a-f]/);
    expect(plan.steps.at(-1)?.content).toBe(`${"x".repeat(999)}\ufffd`);
  });

  it.each([
    ["In Progress", "in_progress"],
    [" in-progress ", "in_progress"],
    ["DONE", "completed"],
    ["Not started", "pending"],
    ["Waiting", "blocked"],
    ["finished?", "pending"],
    ["constructor", "pending"],
    [7, "pending"],
    [["done"], "pending"],
    [`done${" ".repeat(100_000)}`, "completed"],
  ])("The status %j is read as %s", (status, expected) => {
    const plan = normalizePlan("emit_plan", { steps: [{ content: "Test", status }] });
    expect(plan.steps.map((step) => step.status)).toEqual([expected]);
  });
});
