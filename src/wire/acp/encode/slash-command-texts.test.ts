import { describe, expect, it } from "vitest";
import type { GrantScope } from "../../../domain/events/approval-events.ts";
import { formatPermissions, formatTools } from "./slash-command-texts.ts";

describe("the answer to /tools", () => {
  it("says of each tool what the policy says, in one line each", () => {
    const text = formatTools([
      {
        name: "read",
        description: "Reads a file. Slowly.",
        action: "allow",
        dependsOnArguments: false,
      },
      { name: "run`\n- x", description: "Runs\nit", action: "ask", dependsOnArguments: true },
      { name: "rm", description: "", action: "deny", dependsOnArguments: false },
    ]);
    expect(text.split("\n")).toEqual([
      "- `read` is allowed. Reads a file.",
      "- `run' - x` is asked about, or else by its arguments. Runs it",
      "- `rm` is denied.",
    ]);
  });
});

describe("the answer to /permissions", () => {
  it.each<[GrantScope, string]>([
    [{ tool: "run", rule: null, command: "git log", digest: "d" }, "`run` with `git log`"],
    [{ tool: "send", rule: null, digest: "d" }, "`send` with just the arguments that were shown"],
    [
      { tool: "edit", rule: null, paths: [{ argument: "path", hostPath: "/w/a" }] },
      "`edit` of `/w/a`",
    ],
    [
      { tool: "edit", rule: { source: "rules", action: "ask", id: "code", index: 1 } },
      "`edit` wherever `code` asks",
    ],
    [{ tool: "look", rule: null }, "`look`"],
  ])("says what a grant allows: %j", (scope, words) => {
    expect(formatPermissions([{ grantId: "grant_1", scope }])).toContain(`- \`grant_1\`: ${words}`);
  });
});
