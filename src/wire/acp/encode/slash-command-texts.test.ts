import { describe, expect, it } from "vitest";
import type { GrantScope } from "../../../domain/events/approval-events.ts";
import { formatPermissions, formatTools } from "./slash-command-texts.ts";

describe("Output of /tools", () => {
  it("Each tool has a line with its policy decision", () => {
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
      "- `run' - x` is subject to approval; its arguments may change this. Runs it",
      "- `rm` is denied.",
    ]);
  });
});

describe("Output of /permissions", () => {
  it.each<[GrantScope, string]>([
    [{ tool: "run", rule: null, command: "git log", digest: "d" }, "`run` with `git log`"],
    [{ tool: "send", rule: null, digest: "d" }, "`send` with exactly the approved arguments"],
    [
      { tool: "edit", rule: null, paths: [{ argument: "path", hostPath: "/w/a" }] },
      "`edit` of `/w/a`",
    ],
    [
      { tool: "edit", rule: { source: "rules", action: "ask", id: "code", index: 1 } },
      "`edit` wherever `code` asks",
    ],
    [{ tool: "look", rule: null }, "`look`"],
  ])("The scope of a grant is described: %j", (scope, words) => {
    expect(formatPermissions([{ grantId: "grant_1", scope }])).toContain(`- \`grant_1\`: ${words}`);
  });
});
