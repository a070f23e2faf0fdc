import { describe, expect, it } from "vitest";
import { formatApprovalReason } from "./approval-text.ts";

const FIRST = { source: "require_approval", action: "ask", id: null, index: 0 } as const;
const BY_FIRST = "The policy (require_approval, entry 1) asks about save_note";
const BY_DEFAULT = "No rule matches edit_file; the default is to ask";
const BY_MODE = 'The session is in the mode "ask": edit_file does more than read';

describe("The reason of an approval", () => {
  it("The reason is the text of the policy decision", () => {
    expect(formatApprovalReason({ reason: BY_FIRST, rule: FIRST, labels: [] })).toBe(BY_FIRST);
    expect(formatApprovalReason({ reason: BY_DEFAULT, rule: null, labels: [] })).toBe(BY_DEFAULT);
  });

  it("The reason names the session mode if the mode asks too", () => {
    const labels = ["approval_required", "session_mode"];
    const mode = { source: "session_mode", action: "ask", id: "ask", index: 0 };
    const reasons = [
      formatApprovalReason({ reason: BY_DEFAULT, rule: null, labels }),
      formatApprovalReason({ reason: BY_FIRST, rule: FIRST, labels }),
      formatApprovalReason({ reason: BY_MODE, rule: mode, labels }),
    ];
    expect(reasons).toEqual([
      'The session is in the mode "ask"',
      'The session is in the mode "ask". The policy (require_approval, entry 1) asks about save_note',
      BY_MODE,
    ]);
  });
});
