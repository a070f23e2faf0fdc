import { describe, expect, it } from "vitest";
import { readHandoffRequest } from "./handoff.ts";

function problemOf(value: unknown): string | undefined {
  const handoff = readHandoffRequest(value);
  return handoff.ok ? undefined : handoff.problem;
}

const MINIMAL = { target_persona_or_human: "review_captain", task: "Review the patch" };

describe("Handoff requests", () => {
  it("A minimal request gets every field of the handoff, and a name is a persona", () => {
    expect(readHandoffRequest(MINIMAL)).toEqual({
      ok: true,
      request: {
        source_persona: null,
        target_persona_or_human: {
          kind: "persona",
          id: "review_captain",
          label: "review_captain",
          uri: null,
        },
        task: "Review the patch",
        reason: "",
        evidence_refs: [],
        files_or_entities_touched: [],
        open_questions: [],
        blocked_on: [],
        requested_capabilities: [],
        allowed_side_effects: [],
        budget_remaining: null,
        deadline_checkback: null,
        confidence: null,
        receipt_links: [],
        route_decision: null,
        metadata: {},
      },
    });
  });

  it("Items of lists are trimmed and unique, and empty items are dropped", () => {
    const evidence = { kind: "workspace_path", ref: "a.ts" };
    const handoff = readHandoffRequest({
      ...MINIMAL,
      blocked_on: [" tests", "tests ", "", "  "],
      open_questions: "Which branch?",
      evidence_refs: [evidence, { ...evidence }, " run_1 ", "run_1"],
    });
    expect(handoff).toMatchObject({
      request: {
        blocked_on: ["tests"],
        open_questions: ["Which branch?"],
        evidence_refs: [evidence, "run_1"],
      },
    });
  });

  it.each<readonly [name: string, value: unknown, problem: string]>([
    ["no object", "x", 'a handoff is "x": expected an object'],
    ["an unknown field", { ...MINIMAL, extra: 1 }, '"extra" is not a field of a handoff'],
    [
      "no target",
      { task: "x" },
      "target_persona_or_human is missing: expected a name, or an object with kind and id",
    ],
    [
      "an unknown kind of target",
      { ...MINIMAL, target_persona_or_human: { kind: "robot", id: "r2" } },
      'target_persona_or_human.kind is "robot": expected "persona" or "human"',
    ],
    ["an empty task", { ...MINIMAL, task: "  " }, 'task is "  ": expected a filled string'],
    [
      "a confidence above 1",
      { ...MINIMAL, confidence: 1.5 },
      "confidence is 1.5: expected a number from 0 to 1",
    ],
    [
      "a negative budget",
      { ...MINIMAL, budget_remaining: { tokens: -1 } },
      "budget_remaining.tokens is -1: expected a number, at least 0",
    ],
    [
      "an unknown budget unit",
      { ...MINIMAL, budget_remaining: { euros: 1 } },
      'budget_remaining has no field "euros"',
    ],
    [
      "an item which is no string",
      { ...MINIMAL, blocked_on: [1] },
      "blocked_on[0] is 1: expected a string of at most 2000 characters",
    ],
    [
      "evidence without a reference",
      { ...MINIMAL, evidence_refs: [{ kind: "x" }] },
      "evidence_refs[0].ref is missing: expected a string",
    ],
    [
      "too many items",
      { ...MINIMAL, blocked_on: Array.from({ length: 101 }, String) },
      "blocked_on is an array: expected a list of at most 100 items",
    ],
    [
      "a request that is too long as a whole",
      { ...MINIMAL, metadata: { note: "x".repeat(70_000) } },
      "the handoff is longer than 65536 characters as JSON",
    ],
  ])("A handoff with %s is refused with the name of the field", (_, value, problem) => {
    expect(problemOf(value)).toBe(problem);
  });

  it("The key __proto__ is data in metadata and unknown in a handoff", () => {
    const hostile: unknown = JSON.parse(
      '{"target_persona_or_human":"a","task":"b","metadata":{"__proto__":{"x":1}}}',
    );
    const handoff = readHandoffRequest(hostile);
    expect(JSON.stringify(handoff)).toContain('"metadata":{"__proto__":{"x":1}}');
    const root: unknown = JSON.parse('{"target_persona_or_human":"a","task":"b","__proto__":{}}');
    expect(problemOf(root)).toBe('"__proto__" is not a field of a handoff');
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});
