import { describe, expect, it } from "vitest";
import type { TurnFinished } from "../../../domain/events/turn-events.ts";
import { ERROR_CODES } from "../../../domain/errors.ts";
import { encodeInitializeResult } from "./encode-results.ts";
import { encodeFailure } from "./encode-failure.ts";
import { encodePromptOutcome } from "./prompt-outcome.ts";

const STOP_REASONS = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];

describe("Errors", () => {
  it("Every Spanline code maps to the ACP code with the same meaning and is sent in data [W-28]", () => {
    const codes = new Map<number, string[]>();
    for (const code of ERROR_CODES) {
      const error = encodeFailure({ code, message: "It failed", details: {} });
      expect(error).toMatchObject({ message: "It failed", data: { code } });
      codes.set(error.code, [...(codes.get(error.code) ?? []), code]);
    }
    expect(codes.get(-32000)?.toSorted()).toEqual(["no_credentials", "unauthorized"]);
    expect(codes.get(-32002)).toEqual(["not_found"]);
    expect(codes.get(-32010)).toEqual(["conflict"]);
    expect(codes.get(-32011)).toEqual(["access_denied"]);
    expect(new Set(codes.keys())).toEqual(
      new Set([-32000, -32002, -32010, -32011, -32602, -32603]),
    );
  });
});

describe("Result of initialize", () => {
  it("The authentication methods do not require a terminal in the client [ACP-26] [ACP-35]", () => {
    const { authMethods } = Object(encodeInitializeResult("1.0.0"));
    expect(authMethods).not.toEqual([]);
    for (const method of authMethods) {
      expect(["terminal", "env_var"]).not.toContain(method.type);
      expect(Object.keys(method["_meta"] ?? {})).not.toContain("terminal-auth");
    }
  });
});

describe("End of a turn", () => {
  it("A finished turn yields an ACP stop reason or an error [W-28] [ACP-69]", () => {
    const turn: TurnFinished = {
      type: "turn.finished",
      turnId: "t",
      outcome: "completed",
      reason: null,
      usage: null,
      steps: 1,
    };
    for (const outcome of ["completed", "cancelled", "limited"] as const) {
      for (const reason of [null, "max_tokens", "steps", "guardrail_intervened", "anything"]) {
        const answer = encodePromptOutcome({ ...turn, outcome, reason });
        expect(STOP_REASONS).toContain(answer.ok && Object(answer.result).stopReason);
      }
    }
    expect(encodePromptOutcome({ ...turn, outcome: "failed" })).toMatchObject({
      ok: false,
      error: { code: -32603 },
    });
  });
});
