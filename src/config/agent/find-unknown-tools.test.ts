import { describe, expect, it } from "vitest";
import { definePolicy } from "../../bridge/agent/define-policy.ts";
import { findUnknownTools } from "./find-unknown-tools.ts";

const KNOWN = { names: ["read_file", "write_file"], servers: ["my notes"], isComplete: true };

function about(document: object, known: Partial<typeof KNOWN> = {}): string[] {
  return findUnknownTools(definePolicy(document), "policy", { ...KNOWN, ...known });
}

describe("names of tools in a policy", () => {
  it("are said where nobody has them, with the one that was probably meant", () => {
    expect(
      about({
        auto_approve: ["read_file", "read_fil"],
        rules: [{ id: "a", deny: { tool: ["write_file", "pay"] } }],
      }),
    ).toEqual([
      'policy.rules[0] names "pay", which is no tool of the agent',
      'policy.auto_approve[1] names "read_fil", which is no tool of the agent; did you mean read_file?',
    ]);
  });

  it("are not looked for where they are patterns, or of a server that is connected to later", () => {
    const fine = ["read_*", "*", "write_fil?", "my_notes__add", "My_Notes__x"];
    expect(about({ require_approval: fine })).toEqual([]);
    expect(about({ require_approval: ["other__add"] })).toHaveLength(1);
  });

  it("are said where they are patterns that fit none of all tools that there are", () => {
    const auto_deny = ["delete_*", "READ_*", "*"];
    expect(about({ auto_deny }, { servers: [] })).toEqual([
      'policy.auto_deny[0] is "delete_*", which fits no tool of the agent',
    ]);
    expect(about({ auto_deny })).toEqual([]);
    expect(about({ auto_deny }, { servers: [], isComplete: false })).toEqual([]);
  });

  it("are compared as the rules do: an allowance is exact", () => {
    expect(about({ auto_deny: ["Write_File"] })).toEqual([]);
    expect(about({ auto_approve: ["Write_File"] })).toEqual([
      'policy.auto_approve[0] names "Write_File", which is no tool of the agent; did you mean write_file?',
    ]);
  });

  it("count only as misspelt where the agent may have others", () => {
    expect(about({ auto_deny: ["pay", "read_fle"] }, { isComplete: false })).toEqual([
      'policy.auto_deny[1] names "read_fle", which is no tool of the agent; did you mean read_file?',
    ]);
  });

  it("are counted from the eleventh on", () => {
    const names = Array.from({ length: 13 }, (_, at) => `unheard_of_${at}`);
    expect(about({ auto_deny: names }).slice(10)).toEqual(["policy: and 3 more such names"]);
  });
});
