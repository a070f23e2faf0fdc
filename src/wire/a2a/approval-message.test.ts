import { describe, expect, it } from "vitest";
import { createApprovalMessage } from "./approval-message.ts";

describe("The message of a request to people", () => {
  it("The shortened arguments of a tool call split no surrogate pair, and the data has all of them", () => {
    // The JSON has nine characters before the value.
    const input = { text: `${"x".repeat(1990)}😀` };
    const { parts } = createApprovalMessage({
      type: "approval.requested",
      approvalId: "appr_1",
      question: "run",
      options: ["allow", "deny"],
      subjectId: "tool_1",
      action: "send",
      input,
      deadline: 0,
    });
    const [text, data] = parts;
    const cut = `{"text":"${"x".repeat(1990)} … (2003 characters, whole in the data)`;
    expect(text).toMatchObject({ text: expect.stringContaining(`send ${cut}`) });
    expect(data).toMatchObject({ data: { input } });
  });
});
