import { describe, expect, it } from "vitest";
import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import type {
  ApprovalDecision,
  ApprovalQuestion,
} from "../../../domain/policy/approval-decision.ts";
import type { JsonObject, JsonValue } from "../../../data/json.ts";
import { decodePermissionResponse } from "./decode-permission-response.ts";
import { encodePermissionRequest } from "../encode/permissions/encode-permission-request.ts";

const OPTIONS: { readonly [Each in ApprovalQuestion]: readonly ApprovalDecision[] } = {
  run: ["allow", "deny"],
  outcome: ["run-again", "deny", "done", "failed"],
  question: ["answer", "decline"],
  "lost-invocation": ["continue", "reseed", "stop"],
  budget: ["continue", "stop"],
};

function createRequest(question: ApprovalQuestion): ApprovalRequested {
  const options = OPTIONS[question];
  const subjectId = "tool_1";
  const requestFields = { action: "rm", input: {}, deadline: 0 };
  return {
    type: "approval.requested",
    approvalId: "appr_1",
    question,
    options,
    subjectId,
    ...requestFields,
  };
}

function decision(result: JsonValue, question: ApprovalQuestion = "run"): unknown {
  return decodePermissionResponse(createRequest(question), { ok: true, result })?.decision;
}

function selected(optionId?: JsonValue): JsonValue {
  return { outcome: { outcome: "selected", ...(optionId !== undefined && { optionId }) } };
}

describe("Response to a permission request", () => {
  it("The allowing option allows and the denying option denies [W-01] [ACP-96]", () => {
    expect(decision(selected("allow"))).toBe("allow");
    expect(decision(selected("deny"))).toBe("deny");
  });

  it("A selected outcome without an option id allows [B-113] [ACP-96]", () => {
    expect(decision(selected())).toBe("allow");
  });

  it("The form granted: true allows, with edited arguments if present [B-114] [B-115] [ACP-96]", () => {
    expect(decision({ granted: true })).toBe("allow");
    const answer = { ok: true, result: { granted: true, args: { path: "b" } } } as const;
    expect(decodePermissionResponse(createRequest("run"), answer)).toEqual({
      decision: "allow",
      input: { path: "b" },
    });
  });

  it("A null field counts as absent [B-113] [B-114]", () => {
    expect(decision(selected(null))).toBe("allow");
    expect(decision({ granted: null, ...Object(selected("deny")) })).toBe("deny");
    expect(
      decodePermissionResponse(createRequest("run"), {
        ok: true,
        result: { granted: true, args: null },
      }),
    ).toEqual({
      decision: "allow",
    });
  });

  it("A response with both forms allows with the edited arguments", () => {
    const result = {
      granted: true,
      args: { path: "b" },
      outcome: { outcome: "selected", optionId: "allow" },
    };
    expect(decodePermissionResponse(createRequest("run"), { ok: true, result })).toEqual({
      decision: "allow",
      input: { path: "b" },
    });
  });

  it("A denial keeps the client's reason [B-116]", () => {
    const answer = { ok: true, result: { granted: false, reason: "not today" } } as const;
    expect(decodePermissionResponse(createRequest("run"), answer)).toEqual({
      decision: "deny",
      reason: "not today",
    });
  });

  it.each<[what: string, result: JsonValue]>([
    ["an option that was not offered", selected("allow_always")],
    ["an option that is not a string", selected(1)],
    ["an option named like a property of every object", selected("constructor")],
    ["an option of another question", selected("done")],
    ["the outcome cancelled", { outcome: { outcome: "cancelled" } }],
    ["an unknown outcome", { outcome: { outcome: "granted", optionId: "allow" } }],
    ["an outcome that is a string", { outcome: "selected" }],
    ["an empty object", {}],
    ["null", null],
    ["a string", "allow"],
    ["an array", [{ outcome: { outcome: "selected" } }]],
    ["a grant that is not a boolean", { granted: "true" }],
    ["a string with the allowing option", { granted: "false", ...Object(selected("allow")) }],
    ["a grant with an error", { granted: true, error: "no" }],
    ["the allowing option with an error", { error: {}, ...Object(selected("allow")) }],
    ["a grant with the denying option", { granted: true, ...Object(selected("deny")) }],
    ["a grant with the outcome cancelled", { granted: true, outcome: { outcome: "cancelled" } }],
    ["a grant with an unreadable outcome", { granted: true, outcome: null }],
    ["a denial with the allowing option", { granted: false, ...Object(selected("allow")) }],
    ["a grant with arguments that are not an object", { granted: true, args: [1] }],
  ])("A response with %s denies [B-117] [ACP-97]", (_, result) => {
    expect(decision(result)).toBe("deny");
  });

  it("An error response denies, whatever its code [B-011] [B-012] [ACP-97]", () => {
    for (const code of [-32601, -32602, -32603, -32800, 1]) {
      const error = { code, message: "no" };
      expect(decodePermissionResponse(createRequest("run"), { ok: false, error })?.decision).toBe(
        "deny",
      );
    }
  });

  it("A question about an interrupted tool accepts all its options", () => {
    expect(["done", "failed", "run-again"].map((id) => decision(selected(id), "outcome"))).toEqual([
      "done",
      "failed",
      "run-again",
    ]);
  });

  it.each<[question: ApprovalQuestion, yes: ApprovalDecision, no: ApprovalDecision]>([
    ["run", "allow", "deny"],
    ["outcome", "run-again", "deny"],
    ["lost-invocation", "continue", "stop"],
  ])(
    "A question of the kind %s has an approving and a denying decision [B-113] [B-114] [B-116] [B-117]",
    (question, yes, no) => {
      for (const result of [selected(), selected(null), { granted: true }]) {
        expect(decision(result, question)).toBe(yes);
      }
      for (const result of [
        {},
        null,
        selected("allowed"),
        { granted: false },
        { granted: "yes" },
      ]) {
        expect(decision(result, question)).toBe(no);
      }
      const error = { code: -32601, message: "Method not found" };
      expect(decodePermissionResponse(createRequest(question), { ok: false, error })).toEqual({
        decision: no,
        reason: "The client responded with an error: Method not found",
      });
    },
  );

  it("The client selects how a lost invocation continues", () => {
    expect(decision(selected("reseed"), "lost-invocation")).toBe("reseed");
    const both = { granted: true, args: { a: 1 }, ...Object(selected("done")) };
    expect(decodePermissionResponse(createRequest("outcome"), { ok: true, result: both })).toEqual({
      decision: "done",
    });
  });

  it("An interrupted tool runs again with edited arguments [B-115]", () => {
    const result = { granted: true, args: { path: "b" } };
    expect(decodePermissionResponse(createRequest("outcome"), { ok: true, result })).toEqual({
      decision: "run-again",
      input: { path: "b" },
    });
  });

  const long: ApprovalRequested = {
    ...createRequest("run"),
    input: { path: "a", text: "x".repeat(100_000), password: "hunter2" },
  };
  const place = { sessionId: "s", at: 0, turnId: null, agent: undefined, workspace: undefined };
  const shownArgs = (request: ApprovalRequested) =>
    JSON.parse(JSON.stringify(encodePermissionRequest(request, place).params)).approvalRequest.args;

  it("Edited arguments with a preview in place of the original are denied [B-115]", () => {
    const args = { ...shownArgs(long), path: "b" };
    expect(args.text).toContain("[preview of appr_1:");
    const answer = decodePermissionResponse(long, { ok: true, result: { granted: true, args } });
    expect(answer).toEqual({
      decision: "deny",
      reason:
        "The edited arguments contain a preview of arguments that were too long to send. Fetch the whole arguments, then edit them",
    });
    const whole = { ...long.input, path: "b" };
    expect(
      decodePermissionResponse(long, { ok: true, result: { granted: true, args: whole } }),
    ).toEqual({
      decision: "allow",
      input: whole,
    });
    // The agent itself wrote this text, so the text is not a preview.
    const quoting = { ...long, input: { text: "[preview of appr_1: 5 characters not shown]" } };
    const edited = { ...quoting.input, path: "b" };
    expect(
      decodePermissionResponse(quoting, { ok: true, result: { granted: true, args: edited } }),
    ).toEqual({
      decision: "allow",
      input: edited,
    });
  });

  it("A mask in edited arguments that stands for no credential denies the tool call [B-095] [B-115]", () => {
    const decode = (input: JsonObject, args: JsonObject): unknown =>
      decodePermissionResponse(
        { ...createRequest("run"), input },
        { ok: true, result: { granted: true, args } },
      );
    const denied = (mask: string): unknown => ({
      decision: "deny",
      reason: `The edited arguments contain a mask that stands for no credential: ${mask}. Fix: use a mask of the permission request, or write the value itself`,
    });
    const secret = { password: "hunter2secret" };
    expect(decode(secret, { password: "[masked credential 9]" })).toEqual(
      denied("[masked credential 9]"),
    );
    expect(decode({ path: "a" }, { path: "x [masked credential 1]" })).toEqual(
      denied("[masked credential 1]"),
    );
    expect(decode({ path: "a" }, { "[masked credential 1]": 1 })).toEqual(
      denied("[masked credential 1]"),
    );
    // Text of the original arguments is never a mask.
    const literal = { path: "[masked credential 1]" };
    expect(decode(literal, { ...literal, more: 1 })).toMatchObject({
      decision: "allow",
      input: { ...literal, more: 1 },
    });
  });

  it("A mask in edited arguments is replaced by its credential [B-095] [B-115]", () => {
    const short = { ...long, input: { path: "a", password: "hunter2" } };
    const args = shownArgs(short);
    expect(args).toEqual({ path: "a", password: "[masked credential 1]" });
    const edited = { path: "b", password: args.password, again: `--password=${args.password}` };
    expect(
      decodePermissionResponse(short, { ok: true, result: { granted: true, args: edited } }),
    ).toEqual({
      decision: "allow",
      input: { path: "b", password: "hunter2", again: "--password=hunter2" },
    });
    expect(decodePermissionResponse(short, { ok: true, result: { granted: true, args } })).toEqual({
      decision: "allow",
    });
  });
});
