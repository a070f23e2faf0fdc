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
  "lost-invocation": ["continue", "reseed", "stop"],
};

function asked(question: ApprovalQuestion): ApprovalRequested {
  const options = OPTIONS[question];
  const subjectId = "tool_1";
  const shown = { action: "rm", input: {}, deadline: 0 };
  return {
    type: "approval.requested",
    approvalId: "appr_1",
    question,
    options,
    subjectId,
    ...shown,
  };
}

function decision(result: JsonValue, question: ApprovalQuestion = "run"): unknown {
  return decodePermissionResponse(asked(question), { ok: true, result })?.decision;
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
    expect(decodePermissionResponse(asked("run"), answer)).toEqual({
      decision: "allow",
      input: { path: "b" },
    });
  });

  it("takes null for a field that is absent [B-113] [B-114]", () => {
    expect(decision(selected(null))).toBe("allow");
    expect(decision({ granted: null, ...Object(selected("deny")) })).toBe("deny");
    expect(
      decodePermissionResponse(asked("run"), { ok: true, result: { granted: true, args: null } }),
    ).toEqual({
      decision: "allow",
    });
  });

  it("allows by both, with the arguments that one of them has", () => {
    const result = {
      granted: true,
      args: { path: "b" },
      outcome: { outcome: "selected", optionId: "allow" },
    };
    expect(decodePermissionResponse(asked("run"), { ok: true, result })).toEqual({
      decision: "allow",
      input: { path: "b" },
    });
  });

  it("denies with the reason that was given [B-116]", () => {
    const answer = { ok: true, result: { granted: false, reason: "not today" } } as const;
    expect(decodePermissionResponse(asked("run"), answer)).toEqual({
      decision: "deny",
      reason: "not today",
    });
  });

  it.each<[what: string, result: JsonValue]>([
    ["an option that was not offered", selected("allow_always")],
    ["an option that is no text", selected(1)],
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
    ["a text beside the option that allows", { granted: "false", ...Object(selected("allow")) }],
    ["a grant beside an error", { granted: true, error: "no" }],
    ["the option that allows beside an error", { error: {}, ...Object(selected("allow")) }],
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
      expect(decodePermissionResponse(asked("run"), { ok: false, error })?.decision).toBe("deny");
    }
  });

  it("takes the choices of a question about a tool that was under way", () => {
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
    "has a plain yes and a plain no for a question of the kind %s [B-113] [B-114] [B-116] [B-117]",
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
      expect(decodePermissionResponse(asked(question), { ok: false, error })).toEqual({
        decision: no,
        reason: "The client answered with an error: Method not found",
      });
    },
  );

  it("chooses how a lost conversation continues", () => {
    expect(decision(selected("reseed"), "lost-invocation")).toBe("reseed");
    const both = { granted: true, args: { a: 1 }, ...Object(selected("done")) };
    expect(decodePermissionResponse(asked("outcome"), { ok: true, result: both })).toEqual({
      decision: "done",
    });
  });

  it("runs a tool again with edited arguments [B-115]", () => {
    const result = { granted: true, args: { path: "b" } };
    expect(decodePermissionResponse(asked("outcome"), { ok: true, result })).toEqual({
      decision: "run-again",
      input: { path: "b" },
    });
  });

  const long: ApprovalRequested = {
    ...asked("run"),
    input: { path: "a", text: "x".repeat(100_000), password: "hunter2" },
  };
  const place = { sessionId: "s", at: 0, turnId: null, agent: undefined, workspace: undefined };
  const shownArgs = (request: ApprovalRequested) =>
    JSON.parse(JSON.stringify(encodePermissionRequest(request, place).params)).approvalRequest.args;

  it("denies edited arguments that contain a preview in place of the original [B-115]", () => {
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
    // The agent itself wrote these words.
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
        { ...asked("run"), input },
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

  it("takes a mask in edited arguments for the credential that it hides [B-095] [B-115]", () => {
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
