import { describe, expect, it } from "vitest";
import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import type { JsonObject } from "../../../data/json.ts";
import {
  encodeArgumentsResult,
  formatArguments,
  decodeArgumentsRequest,
} from "./approval-arguments.ts";

const approval: ApprovalRequested = {
  type: "approval.requested",
  approvalId: "appr_1",
  question: "run",
  options: ["allow", "deny"],
  subjectId: "tool_1",
  action: "save",
  input: { text: `"\\\u0000😀`.repeat(10_000), password: "hunter2" },
  deadline: 0,
};

describe("Arguments of a permission request in parts", () => {
  it("The parts fit into lines and join to the masked arguments", () => {
    const whole = formatArguments(approval);
    let text = "";
    for (let offset: number | null = 0; offset !== null;) {
      const expectedRequest = {
        type: "arguments",
        sessionId: "s",
        approvalId: "appr_1",
        offset,
      } as const;
      const part = JSON.parse(
        JSON.stringify(encodeArgumentsResult(expectedRequest, whole, 16 * 1024)),
      );
      expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(16 * 1024);
      expect(part).toMatchObject({ offset, totalCharacters: whole.length });
      expect(Buffer.from(part.text).toString()).toBe(part.text);
      text += part.text;
      offset = part.nextOffset;
    }
    expect(JSON.parse(text)).toEqual({ ...approval.input, password: "[masked credential 1]" });
  });

  it.each<[JsonObject, string]>([
    [{ approvalId: "a" }, '"sessionId" is missing'],
    [{ sessionId: "s" }, '"approvalId" is missing'],
    [{ sessionId: "s", approvalId: "a", offset: -1 }, '"offset" is not a valid offset'],
    [{ sessionId: "s", approvalId: "a", offset: "1" }, '"offset" is not a valid offset'],
  ])("A request for arguments with the params %j is rejected", (params, message) => {
    expect(decodeArgumentsRequest(params)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining(message) },
    });
  });
});
