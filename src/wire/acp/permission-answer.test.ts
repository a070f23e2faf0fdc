import { describe, expect, it } from "vitest";
import type { ApprovalRequested, Decision, Question } from "../../domain/agent-event.ts";
import type { JsonValue } from "../../domain/json.ts";
import { permissionAnswer } from "./permission-answer.ts";

const OPTIONS: { readonly [Each in Question]: readonly Decision[] } = {
  run: ["allow", "deny"],
  outcome: ["done", "failed", "run-again"],
  "lost-call": ["continue", "reseed", "stop"],
};

function asked(question: Question): ApprovalRequested {
  const options = OPTIONS[question];
  const about = "tool_1";
  const shown = { action: "rm", input: {}, deadline: 0 };
  return { type: "approval.requested", approvalId: "appr_1", question, options, about, ...shown };
}

function decision(result: JsonValue, question: Question = "run"): unknown {
  return permissionAnswer(asked(question), { ok: true, result })?.decision;
}

function selected(optionId?: JsonValue): JsonValue {
  return { outcome: { outcome: "selected", ...(optionId !== undefined && { optionId }) } };
}

describe("the answer to a permission request", () => {
  it("allows by the option that allows, and denies by the option that denies [W-01] [ACP-96]", () => {
    expect(decision(selected("allow"))).toBe("allow");
    expect(decision(selected("deny"))).toBe("deny");
  });

  it("allows by a bare selected, as hosts that know of one option send it [B-113] [ACP-96]", () => {
    expect(decision(selected())).toBe("allow");
  });

  it("allows by granted, with other arguments where there are some [B-114] [B-115] [ACP-96]", () => {
    expect(decision({ granted: true })).toBe("allow");
    const answer = { ok: true, result: { granted: true, args: { path: "b" } } } as const;
    expect(permissionAnswer(asked("run"), answer)).toEqual({
      decision: "allow",
      input: { path: "b" },
    });
  });

  it("allows by both, with the arguments that one of them has", () => {
    const result = {
      granted: true,
      args: { path: "b" },
      outcome: { outcome: "selected", optionId: "allow" },
    };
    expect(permissionAnswer(asked("run"), { ok: true, result })).toEqual({
      decision: "allow",
      input: { path: "b" },
    });
  });

  it("denies with the reason that was given [B-116]", () => {
    const answer = { ok: true, result: { granted: false, reason: "not today" } } as const;
    expect(permissionAnswer(asked("run"), answer)).toEqual({
      decision: "deny",
      reason: "not today",
    });
  });

  it.each<[what: string, result: JsonValue]>([
    ["an option that was not offered", selected("allow_always")],
    ["an option that is no text", selected(1)],
    ["an option that is null", selected(null)],
    ["an option named like a property of every object", selected("constructor")],
    ["an option of another question", selected("done")],
    ["the outcome cancelled", { outcome: { outcome: "cancelled" } }],
    ["an unknown outcome", { outcome: { outcome: "granted", optionId: "allow" } }],
    ["an outcome that is a text", { outcome: "selected" }],
    ["an empty object", {}],
    ["nothing", null],
    ["a text", "allow"],
    ["an array", [{ outcome: { outcome: "selected" } }]],
    ["a grant that is no boolean", { granted: "true" }],
    ["a grant beside the option that denies", { granted: true, ...Object(selected("deny")) }],
    ["a grant beside the outcome cancelled", { granted: true, outcome: { outcome: "cancelled" } }],
    ["a grant beside an outcome that cannot be read", { granted: true, outcome: null }],
    ["a refusal beside the option that allows", { granted: false, ...Object(selected("allow")) }],
    ["a grant with arguments that are no object", { granted: true, args: [1] }],
  ])("denies on %s [B-117] [ACP-97]", (_, result) => {
    expect(decision(result)).toBe("deny");
  });

  it("denies on method not found, and on any other error [B-011] [B-012] [ACP-97]", () => {
    for (const code of [-32601, -32602, -32603, -32800, 1]) {
      const error = { code, message: "no" };
      expect(permissionAnswer(asked("run"), { ok: false, error })?.decision).toBe("deny");
    }
  });

  it("takes the choices of a question about a tool that was under way", () => {
    expect(["done", "failed", "run-again"].map((id) => decision(selected(id), "outcome"))).toEqual([
      "done",
      "failed",
      "run-again",
    ]);
  });

  it("leaves that question open rather than guess", () => {
    for (const result of [{}, selected(), selected("allow"), { granted: true }]) {
      expect(decision(result, "outcome")).toBeUndefined();
    }
  });

  it("stops the turn of a lost call when nothing was chosen", () => {
    expect(decision(selected("reseed"), "lost-call")).toBe("reseed");
    for (const result of [{}, selected(), selected("allow"), { granted: true }]) {
      expect(decision(result, "lost-call")).toBe("stop");
    }
  });
});
