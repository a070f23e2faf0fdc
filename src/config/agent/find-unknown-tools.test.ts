import { describe, expect, it } from "vitest";
import { definePolicy } from "../../bridge/agent/define-policy.ts";
import { findUnknownTools } from "./find-unknown-tools.ts";

const KNOWN = { names: ["read_file", "write_file"], servers: ["my notes"], isComplete: true };

function about(document: object, known: Partial<typeof KNOWN> = {}): string[] {
  return findUnknownTools(definePolicy(document), "policy", { ...KNOWN, ...known });
}

describe("Names of tools in a policy", () => {
  it("An unknown tool name is reported with a suggestion", () => {
    expect(
      about({
        auto_approve: ["read_file", "read_fil"],
        rules: [{ id: "a", deny: { tool: ["write_file", "pay"] } }],
      }),
    ).toEqual([
      'policy.rules[0]: Tool "pay" does not exist: expected "read_file" or "write_file"',
      'policy.auto_approve[1]: Tool "read_fil" does not exist: expected "read_file" or "write_file". Fix: did you mean "read_file"?',
    ]);
  });

  it("Patterns and tools of MCP servers are not reported before the servers are connected", () => {
    const fine = ["read_*", "*", "write_fil?", "my_notes__add", "My_Notes__x"];
    expect(about({ require_approval: fine })).toEqual([]);
    expect(about({ require_approval: ["other__add"] })).toHaveLength(1);
  });

  it("A pattern that matches none of the complete set of tools is reported", () => {
    const auto_deny = ["delete_*", "READ_*", "*"];
    expect(about({ auto_deny }, { servers: [] })).toEqual([
      'policy.auto_deny[0] is "delete_*", which matches no tool of the agent',
    ]);
    expect(about({ auto_deny })).toEqual([]);
    expect(about({ auto_deny }, { servers: [], isComplete: false })).toEqual([]);
  });

  it("Names are compared as in rules: an allow rule is case-sensitive", () => {
    expect(about({ auto_deny: ["Write_File"] })).toEqual([]);
    expect(about({ auto_approve: ["Write_File"] })).toEqual([
      'policy.auto_approve[0]: Tool "Write_File" does not exist: expected "read_file" or "write_file". Fix: did you mean "write_file"?',
    ]);
  });

  it("With an incomplete set of tools, only misspelled names are reported", () => {
    expect(about({ auto_deny: ["pay", "read_fle"] }, { isComplete: false })).toEqual([
      'policy.auto_deny[1]: Tool "read_fle" does not exist. Fix: did you mean "read_file"?',
    ]);
  });

  it("After ten names the remaining ones are only counted", () => {
    const names = Array.from({ length: 13 }, (_, at) => `unheard_of_${at}`);
    expect(about({ auto_deny: names }).slice(10)).toEqual(["policy: and 3 more such names"]);
  });
});
