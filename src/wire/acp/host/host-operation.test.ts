import { describe, expect, it } from "vitest";
import { encodeHostCallRequest, encodeToolCallRequest } from "./host-request.ts";
import { decodeHostOperation } from "./host-operation.ts";

describe("Host operations", () => {
  it("An operation is decoded as it was encoded [B-237]", () => {
    const call = { name: "a", args: { path: "b" } };
    const value = { ok: true, value: call };
    expect(decodeHostOperation(encodeToolCallRequest("a", { path: "b" }).params)).toEqual(value);
    expect(decodeHostOperation(encodeHostCallRequest("a", { path: "b" }).params)).toEqual(value);
  });

  it("A repeated operation has the same call id [W-48]", () => {
    const { params } = encodeToolCallRequest("a", {}, { toolCallId: "tool_1" });
    expect(decodeHostOperation(params)).toMatchObject({
      value: { name: "a", args: {}, callId: "tool_1" },
    });
  });

  it("The arguments may be missing, null or empty", () => {
    for (const args of [{}, { args: [] }, { args: {} }, { args: null }, { args: [{}] }]) {
      expect(decodeHostOperation({ name: "a", ...args })).toEqual({
        ok: true,
        value: { name: "a", args: {} },
      });
    }
  });

  it.each([
    ["no object", ["a"], "they are not an object"],
    ["no name", { args: {} }, '"name" is missing'],
    ["two arguments", { name: "a", args: [{}, {}] }, '"args" is not valid'],
    ["a string for arguments", { name: "a", args: "b" }, '"args" is not valid'],
  ])("An operation with %s is rejected", (_, params, problem) => {
    expect(decodeHostOperation(params)).toMatchObject({
      ok: false,
      error: { code: -32602, message: expect.stringContaining(problem) },
    });
  });
});
